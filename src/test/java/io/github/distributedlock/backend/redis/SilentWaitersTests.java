package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.TestRedis;
import io.github.distributedlock.tck.Ear;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.params.SetParams;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The waiters that count as dead, where nobody asks often enough to hear a silence. Time
 * passes by making all that the server has heard older.
 */
class SilentWaitersTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	private static final String KEY = "k";

	private static final String LOCK = "lock:{k}";

	private static final String WAITERS = "lock-waiters:{k}";

	private static final String LIVENESS = "lock-alive:{k}";

	private static final String CLAIMS = "lock-claims:{k}";

	private static final long AHEAD = 60_000;

	private final AtomicInteger tokens = new AtomicInteger();

	private RedisLockBackend backend;

	@BeforeEach
	void connect() {
		this.backend = redis.backend(Client.LETTUCE);
		this.backend.listen("living", new Ear());
		this.backend.listen("other", new Ear());
	}

	@Test
	void aDeadTicketDoesNotOutliveTheSecondRareRequest() {
		redis.inTime(() -> {
			reservedForADeadTicket();
			assertThat(briefly()).as("the server may have stood still").isFalse();
			pass(2_000);
			assertThat(briefly()).isTrue();
		});
	}

	/** A request that finds everybody silent pardons all at first. */
	@Test
	void aRequestThatComesWithinASilenceAfterTheDeathDoesNotCount() {
		redis.inTime(() -> {
			reservedForATicket();
			assertThat(briefly()).isFalse();
			pass(2_000);
			assertThat(briefly()).as("the server may have stood still").isFalse();
			pass(2_000);
			assertThat(briefly()).isTrue();
		});
	}

	@Test
	void aDeadTicketDoesNotOutliveTheSecondRequestThatMayNotWait() {
		redis.inTime(() -> {
			reservedForADeadTicket();
			assertThat(this.backend.acquire(fair("living")).acquired()).as("the server may have stood still").isFalse();
			assertThat(this.backend.acquire(fair("living")).acquired()).as("no silence since then").isFalse();
			pass(900);
			assertThat(this.backend.acquire(fair("living")).acquired()).isTrue();
		});
	}

	/** A replica whose clock is behind has the same effect. */
	@ParameterizedTest
	@ValueSource(longs = { 0, 1 })
	void aDeadTicketDoesNotOutliveASilenceAfterTheClockWasSetBack(long number) {
		redis.inTime(() -> {
			Claim holder = claim("other");
			this.backend.acquire(holder);
			Claim dead = fair("dead").number(number);
			this.backend.acquireOrRegister(dead);
			redis.admin().set(LOCK, "reserved:" + dead.owner(), SetParams.setParams().px(AHEAD));
			setBack();
			assertThat(briefly()).as("woken past a waiter that may be alive").isFalse();
			assertThat(redis.admin().pttl(LOCK)).isLessThanOrEqualTo(this.backend.reservation().toMillis());
			pass(900);
			assertThat(briefly()).isTrue();
			assertThat(redis.admin().exists(WAITERS, LIVENESS, CLAIMS)).as("what was left, but the lock").isZero();
		});
	}

	@ParameterizedTest
	@ValueSource(longs = { 0, 1 })
	void whoLivesKeepsItsPlaceAfterTheClockWasSetBack(long number) {
		redis.inTime(() -> {
			this.backend.acquire(claim("other"));
			Claim first = fair("living").number(number);
			Claim second = fair("other").number(number);
			Stream.of(first, fair("dead").number(number), second).forEach(this.backend::acquireOrRegister);
			redis.admin().del(LOCK); // Its lease has run out.
			setBack();
			assertThat(this.backend.acquireOrRegister(second).acquired()).as("before the first").isFalse();
			assertThat(this.backend.acquireOrRegister(first).acquired()).isTrue();
		});
	}

	private void reservedForADeadTicket() {
		reservedForATicket();
		pass(2_000);
	}

	private void reservedForATicket() {
		Claim holder = claim("other");
		this.backend.acquire(holder);
		this.backend.acquireOrRegister(fair("dead"));
		this.backend.release(KEY, holder.owner());
	}

	// Makes a request with a wait time of half a second.
	private boolean briefly() {
		Claim claim = fair("living");
		boolean acquired = this.backend.acquireOrRegister(claim).acquired()
				|| this.backend.acquireOrRegister(claim).acquired();
		this.backend.withdraw(KEY, claim.waiter(), Set.of());
		return acquired;
	}

	private void setBack() {
		makeOlder(-AHEAD);
		redis.admin().hgetAll(CLAIMS).forEach((waiter, claim) -> {
			String[] words = claim.split(" ");
			words[2] = Long.toString(Long.parseLong(words[2]) + AHEAD);
			redis.admin().hset(CLAIMS, waiter, String.join(" ", words));
		});
	}

	private void makeOlder(long millis) {
		redis.admin()
			.zrangeWithScores(LIVENESS, 0, -1)
			.forEach((line) -> redis.admin().zadd(LIVENESS, line.getScore() - millis, line.getElement()));
	}

	private void pass(long millis) {
		makeOlder(millis);
		if ("string".equals(redis.admin().type(LOCK)) && redis.admin().get(LOCK).startsWith("reserved:")
				&& millis >= this.backend.reservation().toMillis()) {
			redis.admin().del(LOCK);
		}
	}

	private Claim fair(String instance) {
		return claim(instance).fair(true);
	}

	private Claim claim(String instance) {
		return Claim.of(KEY, instance + ":" + this.tokens.incrementAndGet(), instance, Duration.ofSeconds(30));
	}

}
