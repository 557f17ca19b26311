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

	private final LocalQueue queue = new LocalQueue((same, entry) -> this.withdrawals.add(entry), null);

	@Test
	void requestTakesOverAWithdrawalThatHasNotBegun() {
		QueueEntry withdrawal = withdrawal();
		QueueEntry entry = this.queue.enter(K, false, false, null);
		assertThat(entry.takeTurn()).as("its turn at once").isTrue();
		assertThat(entry.queue().registered).as("the store still knows us").isTrue();
		assertThat(withdrawal.begin()).as("withdraws all the same").isFalse();
		this.queue.leave(entry);
		assertThat(this.withdrawals).as("begun anew after it").hasSize(2).doesNotHaveDuplicates();
	}

	@Test
	void requestWaitsForAWithdrawalThatHasBegun() {
		QueueEntry withdrawal = withdrawal();
		assertThat(withdrawal.begin()).isTrue();
		QueueEntry entry = this.queue.enter(K, false, false, null);
		assertThat(entry.takeTurn()).isFalse();
		withdrawal.queue().withdrawn(Set.of());
		this.queue.leave(withdrawal);
		assertThat(entry.takeTurn()).isTrue();
		assertThat(entry.queue().registered).isFalse();
	}

	@Test
	void requestThatTakesOverAMessageForNobodyKnowsThatTheKeyMayBeReserved() {
		this.queue.wake(K);
		assertThat(this.withdrawals).hasSize(1);
		QueueEntry entry = this.queue.enter(K, false, false, null);
		assertThat(entry.queue().registered).isTrue();
		this.queue.leave(entry);
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
