package io.github.distributedlock.engine.queue;

import java.util.ArrayList;
import java.util.List;

import io.github.distributedlock.backend.Waiter;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the withdrawals of {@link LocalQueue}.
 */
class LocalQueueTests {

	private static final QueueKey K = new QueueKey("k", Waiter.exclusive("us"));

	private final List<QueueNode> withdrawals = new ArrayList<>();

	private final LocalQueue queue = new LocalQueue((same, node) -> this.withdrawals.add(node));

	@Test
	void requestTakesOverAWithdrawalThatHasNotBegun() {
		QueueNode withdrawal = withdrawal();
		QueueNode node = this.queue.enter(K, false, false, null);
		assertThat(node.takeTurn()).as("its turn at once").isTrue();
		assertThat(node.isRegistered()).as("the store still knows us").isTrue();
		assertThat(withdrawal.begin()).as("withdraws all the same").isFalse();
		this.queue.leave(node);
		assertThat(this.withdrawals).as("begun anew after it").hasSize(2).doesNotHaveDuplicates();
	}

	@Test
	void requestWaitsForAWithdrawalThatHasBegun() {
		QueueNode withdrawal = withdrawal();
		assertThat(withdrawal.begin()).isTrue();
		QueueNode node = this.queue.enter(K, false, false, null);
		assertThat(node.takeTurn()).isFalse();
		withdrawal.settled();
		this.queue.leave(withdrawal);
		assertThat(node.takeTurn()).isTrue();
		assertThat(node.isRegistered()).isFalse();
	}

	@Test
	void requestThatTakesOverAMessageForNobodyKnowsThatTheKeyMayBeReserved() {
		this.queue.wake(K);
		assertThat(this.withdrawals).hasSize(1);
		QueueNode node = this.queue.enter(K, false, false, null);
		assertThat(node.isRegistered()).isTrue();
		this.queue.leave(node);
		assertThat(this.withdrawals).as("passed on after it").hasSize(2);
	}

	@Test
	void secondRequestThatMayNotWaitIsToldAtOnce() {
		withdrawal();
		this.queue.enter(K, false, false, null);
		assertThat(this.queue.enter(K, false, false, null)).isNull();
	}

	private QueueNode withdrawal() {
		QueueNode waiter = this.queue.enter(K, true, false, null);
		waiter.registering();
		this.queue.leave(waiter);
		assertThat(this.withdrawals).hasSize(1);
		return this.withdrawals.get(0);
	}

}
