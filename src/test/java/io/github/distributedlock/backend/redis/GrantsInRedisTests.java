package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.TestRedis;
import io.github.distributedlock.tck.Ear;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.Jedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The claims and grants that Redis keeps, and the waiters to whom nothing is granted.
 */
class GrantsInRedisTests {

	@RegisterExtension
	static final TestRedis REDIS = new TestRedis();

	private static final String LOCK = "lock:{k}";

	private static final String CLAIMS = "lock-claims:{k}";

	private static final String ALIVE = "lock-alive:{k}";

	private static final String WAITERS = "lock-waiters:{k}";

	private static final Duration LEASE = Duration.ofMinutes(10);

	private final AtomicInteger tokens = new AtomicInteger();

	private final Ear ear = new Ear();

	private RedisLockBackend backend;

	@BeforeEach
	void connect() {
		this.backend = REDIS.backend(Client.LETTUCE);
		for (String instance : List.of("a", "b", "c", "d")) {
			this.backend.listen(instance, this.ear);
			// Subscribes.
			Claim other = Claim.of("other", instance + ":0", instance, LEASE);
			assertThat(this.backend.acquireOrRegister(other).acquired()).isTrue();
			this.backend.release("other", other.owner());
		}
	}

	@ParameterizedTest
	@CsvSource({ "100, 3000", "600, 3000", "1000, 5000", "3000, 15000" })
	void leaseOfAGrantIsFiveCommandTimeoutsAndAtLeast3Seconds(long timeout, long lease) {
		RedisLockSettings settings = RedisLockSettings.defaults().commandTimeout(Duration.ofMillis(timeout));
		assertThat(REDIS.backend(Client.LETTUCE, settings).grantLease()).isEqualTo(Duration.ofMillis(lease));
	}

	/**
	 * Engines of the version whose grants had the full lease grant what this one claims.
	 * Engines of the version that undoes a grant which reached nobody repeat the zero
	 * before the number in their messages.
	 */
	@Test
	void isKeptInAFormThatTheVersionsBeforeRead() {
		held("a");
		Claim next = waits(claim("b").grantLease(Duration.ofSeconds(5)));
		assertThat(admin().hget(CLAIMS, "b")).matches("01 5000 \\d{13} " + next.owner());
	}

	@Test
	void aGrantThatMayHaveBeenUndoneIsOfNoNumber() {
		held("a");
		Claim next = waits("b");
		admin().publish("lock-wake:b", "granted: 01 " + next.owner() + " b k");
		this.ear.awaitGrant(next);
		assertThat(this.ear.last().number()).as("by a version that undoes grants").isZero();
		admin().publish("lock-wake:b", "granted: 1 " + next.owner() + " b last");
		this.ear.awaitWake("last");
		assertThat(this.ear.last().number()).as("by this version").isEqualTo(1);
	}

	/** On a busy machine the waiter may have been silent for longer at the release. */
	@Test
	void whoPollsLateByAPauseOfACollectorKeepsItsPlace() {
		REDIS.inTime(() -> {
			Claim holder = held("a");
			Claim late = waits("b");
			waits("c");
			pass(late, 600 + 200);
			this.backend.release("k", holder.owner());
			assertThat(admin().get(LOCK)).isEqualTo(late.owner());
		});
	}

	/** Such as one by an instance that does without scripts now. */
	@Test
	void anOldClaimDoesNotTellOfDeath() {
		REDIS.inTime(() -> {
			Claim holder = held("a");
			Claim next = waits("b");
			waits("c");
			pass(next, 11_000);
			this.backend.release("k", holder.owner());
			assertThat(admin().get(LOCK)).isEqualTo("reserved:b");
		});
	}

	@Test
	void allOfItExpires() {
		held("a");
		for (int i = 0; i < 2; i++) {
			waits("b");
			waits("c");
			waits(claim("b").fair(true));
			waits(claim("c").number(0));
			assertThat(Stream.of(CLAIMS, WAITERS, "lock-alive:{k}"))
				.allSatisfy((name) -> assertThat(admin().pttl(name)).as(name).isBetween(1L, 10_000L));
		}
	}

	@Test
	void nothingIsLeftBehindTheLastWaiter() {
		REDIS.inTime(() -> {
			Claim holder = held("a");
			Claim first = waits("b");
			Claim second = waits("c");
			waits(second);
			this.backend.release("k", holder.owner());
			this.backend.release("k", first.owner());
			this.backend.release("k", second.owner());
			assertThat(admin().keys("*")).isEmpty();
		});
	}

	@Test
	void nothingIsLeftOfPermits() {
		Claim holder = claim("a").permits(2);
		this.backend.acquire(holder);
		assertThat(admin().pttl(LOCK)).isGreaterThan(LEASE.toMillis() / 2);
		assertThat(this.backend.release("k", holder.owner())).isTrue();
		assertThat(admin().exists(LOCK)).isFalse();
	}

	@Test
	void aForeignSortedSetHoldsNoPermits() {
		admin().zadd(LOCK, 1, "permits");
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.backend.acquireOrRegister(claim("a").permits(2)))
			.withMessageContainingAll("WRONGTYPE", "'k'");
		assertThat(admin().zrange(LOCK, 0, -1)).containsExactly("permits");
	}

	@Test
	void whereSomethingElseIsKeptInPlaceOfTheClaimsLocksAreReserved() {
		REDIS.inTime(() -> {
			admin().set(CLAIMS, "something else");
			Claim holder = held("a");
			Claim next = waits("b");
			this.backend.release("k", holder.owner());
			assertThat(admin().get(LOCK)).isEqualTo("reserved:b");
			assertThat(this.backend.acquireOrRegister(next).acquired()).isTrue();
			this.backend.release("k", next.owner());
			assertThat(admin().get(CLAIMS)).isEqualTo("something else");
		});
	}

	@Test
	void aServerWithoutMemoryGrantsAllTheSame() {
		REDIS.inTime(() -> {
			Claim holder = held("a");
			Claim next = waits("b");
			releaseWithoutMemory(holder);
			assertThat(admin().get(LOCK)).isEqualTo(next.owner());
			this.ear.awaitGrant(next);
		});
	}

	@Test
	void nobodyIsToldOfAGrantThatWasRefused() {
		REDIS.inTime(() -> {
			Claim holder = held("a");
			Claim refused = waits("b");
			releaseWithoutSet(holder);
			assertThat(admin().exists(LOCK)).isFalse();
			Claim again = held("a");
			Claim next = waits("b");
			this.backend.release("k", again.owner());
			assertThat(admin().get(LOCK)).isEqualTo(next.owner());
			this.ear.awaitGrant(next);
			assertThat(this.ear.owners()).as("told, in this order").doesNotContain(refused.owner());
		});
	}

	@Test
	void waitersWhoseGrantIsRefusedKeepTheirPlaces() {
		REDIS.inTime(() -> {
			Claim holder = held("a");
			Claim first = waits("b");
			waits("c");
			releaseWithoutSet(holder);
			assertThat(admin().exists(LOCK)).isFalse();
			assertThat(admin().zrange(WAITERS, 0, -1)).containsExactly("b", "c");
			Claim other = held("d");
			waits(first.number(2));
			this.backend.release("k", other.owner());
			assertThat(admin().get(LOCK)).isEqualTo(first.owner());
		});
	}

	/** The lease looks as if it had run out. */
	@Test
	void aServerWithoutMemoryGrantsWhatWasFreeToTheFirst() {
		REDIS.inTime(() -> {
			Claim holder = held("a");
			Claim first = waits("b");
			waits("c");
			admin().del(LOCK);
			releaseWithoutMemory(holder);
			assertThat(admin().get(LOCK)).isEqualTo(first.owner());
			assertThat(admin().zrange(WAITERS, 0, -1)).containsExactly("c");
		});
	}

	private void releaseWithoutMemory(Claim holder) {
		admin().configSet("maxmemory", "1");
		try {
			this.backend.release("k", holder.owner());
		}
		finally {
			admin().configSet("maxmemory", "0");
		}
	}

	private void releaseWithoutSet(Claim holder) {
		admin().aclSetUser("default", "-set");
		try {
			this.backend.release("k", holder.owner());
		}
		finally {
			admin().aclSetUser("default", "+set");
		}
	}

	private Claim held(String instance) {
		Claim claim = claim(instance);
		assertThat(this.backend.acquire(claim).acquired()).isTrue();
		return claim;
	}

	private Claim waits(String instance) {
		return waits(claim(instance));
	}

	private Claim waits(Claim claim) {
		assertThat(this.backend.acquireOrRegister(claim).acquired()).isFalse();
		return claim;
	}

	private Claim claim(String instance) {
		return Claim.of("k", instance + ":" + this.tokens.incrementAndGet(), instance, LEASE).number(1);
	}

	/** Makes what the server has heard of a claim older. */
	private void pass(Claim claim, long millis) {
		String waiter = claim.fair() ? claim.owner() : claim.instance();
		String[] words = admin().hget(CLAIMS, waiter).split(" ");
		words[2] = Long.toString(Long.parseLong(words[2]) - millis);
		admin().hset(CLAIMS, waiter, String.join(" ", words));
		String line = claim.fair() ? "fair:" + claim.instance() : waiter;
		if (admin().zscore(ALIVE, line) != null) {
			admin().zincrby(ALIVE, -millis, line);
		}
	}

	private Jedis admin() {
		return REDIS.admin();
	}

}
