package io.github.distributedlock.integration;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.distributedlock.engine.EngineFixture;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.engine.ScriptedBackend;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A leader whose lock is lost is revoked before there is another leader. So is a leader
 * that could acquire the lock anew at once, since somebody else may have been leader in
 * between.
 */
class LostLeadershipTests extends EngineFixture {

	/**
	 * The time by which a lease ends earlier here than in the store.
	 */
	private static final Duration MARGIN = LEASE.dividedBy(100);

	private final ScriptedBackend theirStore = new ScriptedBackend(this.store);

	/**
	 * The other engine polls in real time, since the fake clock stands still.
	 */
	private final LockEngine theirEngine = LockEngine.builder(this.theirStore).watchdogTimeout(LEASE).build();

	private final List<String> told = new CopyOnWriteArrayList<>();

	private final List<LockRegistryLeaderInitiator> initiators = new ArrayList<>();

	@AfterEach
	void stop() {
		this.backend.works();
		this.initiators.forEach(LockRegistryLeaderInitiator::stop);
		this.theirEngine.close();
	}

	@ParameterizedTest
	@MethodSource("io.github.distributedlock.integration.Registry#all")
	void leaderThatHasLostItsLockIsRevoked(Registry registry) {
		candidate("us", registry, this.engine);
		Awaitility.await("the election").until(() -> this.told.size() == 1);
		this.time.pass(LEASE);
		Awaitility.await("the next election").until(() -> this.told.size() == 3);
		assertThat(this.told).containsExactly("us granted", "us revoked", "us granted");
	}

	@ParameterizedTest
	@MethodSource("io.github.distributedlock.integration.Registry#all")
	void leaderWithoutStoreIsRevokedBeforeThereIsAnother(Registry registry) {
		candidate("us", registry, this.engine);
		Awaitility.await("the election").until(() -> this.told.size() == 1);
		candidate("them", registry, this.theirEngine);
		untilTheyHaveAskedAgain();
		this.backend.breaks(ScriptedBackend.LOST_REQUEST);
		this.time.pass(LEASE.minus(MARGIN));
		Awaitility.await("the end of the first leader").until(() -> this.told.size() == 2);
		untilTheyHaveAskedAgain();
		assertThat(this.told).as("while the lease lasts").containsExactly("us granted", "us revoked");
		this.time.pass(MARGIN);
		Awaitility.await("the next election").until(() -> this.told.size() == 3);
		assertThat(this.told).containsExactly("us granted", "us revoked", "them granted");
	}

	private void untilTheyHaveAskedAgain() {
		int before = this.theirStore.steps().size();
		Awaitility.await("more questions to the store").until(() -> this.theirStore.steps().size() > before + 10);
	}

	private void candidate(String name, Registry registry, LockEngine engine) {
		LockRegistryLeaderInitiator initiator = new LockRegistryLeaderInitiator(registry.of(engine),
				new Candidate(name));
		initiator.setHeartBeatMillis(10);
		initiator.setBusyWaitMillis(10);
		this.initiators.add(initiator);
		initiator.start();
	}

	private final class Candidate extends DefaultCandidate {

		Candidate(String name) {
			super(name, "leader");
		}

		@Override
		public void onGranted(Context context) {
			LostLeadershipTests.this.told.add(getId() + " granted");
		}

		@Override
		public void onRevoked(Context context) {
			LostLeadershipTests.this.told.add(getId() + " revoked");
		}

	}

}
