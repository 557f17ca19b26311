package io.github.distributedlock.engine;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the withdrawals of {@link LocalQueue}.
 */
class LocalQueueTests {

	private static final Waiter K = new Waiter("k", "us");

	private final List<Turn> withdrawals = new ArrayList<>();

	private final LocalQueue queue = new LocalQueue((same, turn) -> this.withdrawals.add(turn));

	@Test
	void requestTakesOverAWithdrawalThatHasNotBegun() {
		Turn withdrawal = withdrawal();
		Turn turn = this.queue.enter(K, false, false);
		assertThat(turn.granted.tryAcquire()).as("its turn at once").isTrue();
		assertThat(turn.isRegistered()).as("the store still knows us").isTrue();
		assertThat(withdrawal.begin()).as("withdraws all the same").isFalse();
		this.queue.leave(turn);
		assertThat(this.withdrawals).as("begun anew after it").hasSize(2).doesNotHaveDuplicates();
	}

	@Test
	void requestWaitsForAWithdrawalThatHasBegun() {
		Turn withdrawal = withdrawal();
		assertThat(withdrawal.begin()).isTrue();
		Turn turn = this.queue.enter(K, false, false);
		assertThat(turn.granted.tryAcquire()).isFalse();
		withdrawal.settled();
		this.queue.leave(withdrawal);
		assertThat(turn.granted.tryAcquire()).isTrue();
		assertThat(turn.isRegistered()).isFalse();
	}

	@Test
	void requestThatTakesOverAMessageForNobodyKnowsThatTheKeyMayBeReserved() {
		this.queue.wake(K);
		assertThat(this.withdrawals).hasSize(1);
		Turn turn = this.queue.enter(K, false, false);
		assertThat(turn.isRegistered()).isTrue();
		this.queue.leave(turn);
		assertThat(this.withdrawals).as("passed on after it").hasSize(2);
	}

	@Test
	void secondRequestThatMayNotWaitIsToldAtOnce() {
		withdrawal();
		this.queue.enter(K, false, false);
		assertThat(this.queue.enter(K, false, false)).isNull();
	}

	private Turn withdrawal() {
		Turn waiter = this.queue.enter(K, true, false);
		waiter.registering();
		this.queue.leave(waiter);
		assertThat(this.withdrawals).hasSize(1);
		return this.withdrawals.get(0);
	}

}
