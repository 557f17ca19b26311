package io.github.distributedlock.integration;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

import io.github.distributedlock.backend.memory.InMemoryLockBackend;
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
 * Spring Integration's election of a leader: engines on one store, whose leases run out
 * when the test says so.
 */
class LeaderElectionTests {

	private static final String ROLE = "leader";

	private static final Duration LEASE = Duration.ofSeconds(30);

	private final AtomicLong clock = new AtomicLong();

	private final InMemoryLockBackend store = new InMemoryLockBackend(this.clock::get);

	private final List<Node> nodes = new ArrayList<>();

	/**
	 * The numbers of leaders at each election.
	 */
	private final List<Integer> leadersAtOnce = new CopyOnWriteArrayList<>();

	@AfterEach
	void stop() {
		this.nodes.forEach((node) -> {
			node.initiator.stop();
			node.engine.close();
		});
	}

	@ParameterizedTest
	@MethodSource("io.github.distributedlock.integration.Registry#all")
	void electsOneAndFailsOver(Registry registry) {
		for (int i = 0; i < 3; i++) {
			this.nodes.add(new Node("node-" + i, registry));
		}
		this.nodes.forEach((node) -> node.initiator.start());
		Node first = leader();
		first.initiator.getContext().yield();
		untilThereIsAnotherElectionAfter(1);
		Node second = leader();
		second.initiator.stop();
		untilThereIsAnotherElectionAfter(2);
		Node third = leader();
		assertThat(third).isNotSameAs(second);
		third.engine.close();
		Awaitility.await("the one that has lost its lock is leader no more").until(() -> !third.isLeader());
		untilAskedAgainBy(
				this.nodes.stream().filter((node) -> node != second && node != third).findAny().orElseThrow());
		assertThat(this.leadersAtOnce).as("while the lease lasts").hasSize(3);
		this.clock.addAndGet(LEASE.toNanos());
		untilThereIsAnotherElectionAfter(3);
		assertThat(leader()).isNotIn(second, third);
		assertThat(this.leadersAtOnce).containsOnly(1);
	}

	private Node leader() {
		List<Node> leaders = Awaitility.await("a leader").until(this::leaders, (some) -> !some.isEmpty());
		assertThat(leaders).hasSize(1);
		return leaders.get(0);
	}

	private List<Node> leaders() {
		return this.nodes.stream().filter(Node::isLeader).toList();
	}

	private static void untilAskedAgainBy(Node node) {
		int before = node.store.steps().size();
		Awaitility.await("more questions to the store").until(() -> node.store.steps().size() > before + 10);
	}

	private void untilThereIsAnotherElectionAfter(int elections) {
		Awaitility.await("another election").until(() -> this.leadersAtOnce.size() > elections);
	}

	private final class Node extends DefaultCandidate {

		private final ScriptedBackend store = new ScriptedBackend(LeaderElectionTests.this.store);

		private final LockEngine engine;

		private final LockRegistryLeaderInitiator initiator;

		Node(String id, Registry registry) {
			super(id, ROLE);
			this.engine = LockEngine.builder(this.store).watchdogTimeout(LEASE).build();
			this.initiator = new LockRegistryLeaderInitiator(registry.of(this.engine), this);
			this.initiator.setHeartBeatMillis(10);
			this.initiator.setBusyWaitMillis(10);
		}

		boolean isLeader() {
			return this.initiator.getContext().isLeader();
		}

		@Override
		public void onGranted(Context context) {
			super.onGranted(context);
			LeaderElectionTests.this.leadersAtOnce.add(leaders().size());
		}

	}

}
