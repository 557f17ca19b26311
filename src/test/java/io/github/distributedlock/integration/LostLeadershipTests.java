package io.github.distributedlock.integration;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.distributedlock.engine.EngineFixture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A leader whose lock is lost is told so, though it could acquire the lock anew at once:
 * somebody else may have been leader in between.
 */
class LostLeadershipTests extends EngineFixture {

	private final List<String> told = new CopyOnWriteArrayList<>();

	@Test
	void leaderThatHasLostItsLockIsRevoked() {
		LockRegistryLeaderInitiator initiator = new LockRegistryLeaderInitiator(
				new DistributedLockRegistry(this.engine), new Candidate());
		initiator.setHeartBeatMillis(10);
		initiator.setBusyWaitMillis(10);
		initiator.start();
		try {
			Awaitility.await("the election").until(() -> this.told.size() == 1);
			this.time.pass(LEASE);
			Awaitility.await("the next election").until(() -> this.told.size() == 3);
			assertThat(this.told).containsExactly("granted", "revoked", "granted");
		}
		finally {
			initiator.stop();
		}
	}

	private final class Candidate extends DefaultCandidate {

		@Override
		public void onGranted(Context context) {
			LostLeadershipTests.this.told.add("granted");
		}

		@Override
		public void onRevoked(Context context) {
			LostLeadershipTests.this.told.add("revoked");
		}

	}

}
