package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.engine.LocalKey.Entry;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the withdrawals of {@link LocalQueue}.
 */
class LocalQueueTests {

	private static final QueueKey K = new QueueKey("k", Waiter.exclusive("us"));

	private final List<LocalKey> withdrawals = new ArrayList<>();

	private final Wait wait = new Wait(new StillTime(), Duration.ZERO, false);

	private final LocalQueue queue = new LocalQueue(this.withdrawals::add, null);

	@Test
	void requestTakesOverAWithdrawalThatHasNotBegun() {
		LocalKey withdrawal = withdrawal();
		Entry entry = this.queue.enter(K, false, false, this.wait);
		assertThat(takeTurn(entry)).as("its turn at once").isTrue();
		assertThat(entry.key().isRegistered()).as("the store still knows us").isTrue();
		assertThat(withdrawal.beginWithdrawal()).as("withdraws all the same").isNull();
		entry.leave();
		assertThat(this.withdrawals).as("withdrawals, one begun anew after the entry").hasSize(2);
		assertThat(this.withdrawals.get(1).beginWithdrawal()).isNotNull();
	}

	@Test
	void requestWaitsForAWithdrawalThatHasBegun() {
		LocalKey withdrawal = withdrawal();
		assertThat(withdrawal.beginWithdrawal()).isEmpty();
		Entry entry = this.queue.enter(K, false, false, this.wait);
		assertThat(takeTurn(entry)).isFalse();
		withdrawal.endWithdrawal(Set.of());
		assertThat(takeTurn(entry)).isTrue();
		assertThat(entry.key().isRegistered()).isFalse();
	}

	@Test
	void messageForNobodyTellsThatTheKeyMayBeReserved() {
		this.queue.wake(K);
		assertThat(this.withdrawals).hasSize(1);
		Entry entry = this.queue.enter(K, false, false, this.wait);
		assertThat(entry.key().isRegistered()).isTrue();
		entry.leave();
		assertThat(this.withdrawals).as("withdrawals, one after the entry").hasSize(2);
	}

	@Test
	void secondRequestThatMayNotWaitIsToldAtOnce() {
		withdrawal();
		this.queue.enter(K, false, false, this.wait);
		assertThat(this.queue.enter(K, false, false, this.wait)).isNull();
	}

	@Test
	void lateNoticeOfAHoldThatIsLostChangesNothingForTheNextRequest() {
		Entry first = this.queue.enter(K, true, true, this.wait);
		Entry second = this.queue.enter(K, true, true, this.wait);
		first.leave();
		second.key().register();
		first.acquired("us:1-a");
		assertThat(this.queue.granted(K, new ReleaseNotification("k", K.waiter(), "us:2-a", 1), "us:2-a")).isTrue();
		second.leave();
		assertThat(this.withdrawals).hasSize(1);
	}

	private LocalKey withdrawal() {
		Entry waiter = this.queue.enter(K, true, false, this.wait);
		waiter.key().register();
		waiter.leave();
		assertThat(this.withdrawals).hasSize(1);
		return this.withdrawals.get(0);
	}

	/**
	 * Returns whether the turn of an entry has come, which is told once.
	 */
	static boolean takeTurn(Entry entry) {
		return entry.isCurrent() && (entry.wasFirst() || entry.nudges().tryAcquire());
	}

}
