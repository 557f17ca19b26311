package io.github.distributedlock.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.engine.KeyQueue.QueueKey;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the withdrawals of {@link LocalQueue}.
 */
class LocalQueueTests {

	private static final QueueKey K = new QueueKey("k", Waiter.exclusive("us"));

	private final List<QueueEntry> withdrawals = new ArrayList<>();

	private final LocalQueue queue = new LocalQueue((same, node) -> this.withdrawals.add(node));

	@Test
	void requestTakesOverAWithdrawalThatHasNotBegun() {
		QueueEntry withdrawal = withdrawal();
		QueueEntry node = this.queue.enter(K, false, false, null);
		assertThat(node.takeTurn()).as("its turn at once").isTrue();
		assertThat(node.queue().registered).as("the store still knows us").isTrue();
		assertThat(withdrawal.begin()).as("withdraws all the same").isFalse();
		this.queue.leave(node);
		assertThat(this.withdrawals).as("begun anew after it").hasSize(2).doesNotHaveDuplicates();
	}

	@Test
	void requestWaitsForAWithdrawalThatHasBegun() {
		QueueEntry withdrawal = withdrawal();
		assertThat(withdrawal.begin()).isTrue();
		QueueEntry node = this.queue.enter(K, false, false, null);
		assertThat(node.takeTurn()).isFalse();
		withdrawal.queue().withdrawn(Set.of());
		this.queue.leave(withdrawal);
		assertThat(node.takeTurn()).isTrue();
		assertThat(node.queue().registered).isFalse();
	}

	@Test
	void requestThatTakesOverAMessageForNobodyKnowsThatTheKeyMayBeReserved() {
		this.queue.wake(K);
		assertThat(this.withdrawals).hasSize(1);
		QueueEntry node = this.queue.enter(K, false, false, null);
		assertThat(node.queue().registered).isTrue();
		this.queue.leave(node);
		assertThat(this.withdrawals).as("passed on after it").hasSize(2);
	}

	@Test
	void secondRequestThatMayNotWaitIsToldAtOnce() {
		withdrawal();
		this.queue.enter(K, false, false, null);
		assertThat(this.queue.enter(K, false, false, null)).isNull();
	}

	private QueueEntry withdrawal() {
		QueueEntry waiter = this.queue.enter(K, true, false, null);
		waiter.queue().registered = true;
		this.queue.leave(waiter);
		assertThat(this.withdrawals).hasSize(1);
		return this.withdrawals.get(0);
	}

}
