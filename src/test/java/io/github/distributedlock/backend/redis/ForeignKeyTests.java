package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.AtomicityCase;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.tck.Ear;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.SetParams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Locks whose names in Redis somebody else uses for something else.
 */
class ForeignKeyTests {

	private static final String FOREIGN = "something else";

	private static final AtomicInteger prefixes = new AtomicInteger();

	private final String prefix = "foreign-" + prefixes.incrementAndGet();

	private final Claim holder = claim("a");

	private RedisLockBackend backend;

	private Jedis admin;

	static Stream<AtomicityCase> candidates() {
		return AtomicityCase.ofEachCandidate();
	}

	@AfterEach
	void close() {
		this.backend.close();
		this.admin.close();
	}

	@ParameterizedTest
	@MethodSource("candidates")
	void somethingInPlaceOfTheWaitersDoesNotKeepTheLock(AtomicityCase candidate) {
		open(candidate);
		this.backend.acquire(this.holder);
		this.admin.set(name("-waiters"), FOREIGN);
		assertThat(this.backend.release("k", this.holder.owner())).as("still its own").isTrue();
		assertThat(this.admin.exists(name(""))).as("still locked").isFalse();
		assertThat(this.admin.get(name("-waiters"))).isEqualTo(FOREIGN);
	}

	@ParameterizedTest
	@MethodSource("candidates")
	void somethingInPlaceOfTheWaitersIsNamedToWhoHasToWait(AtomicityCase candidate) {
		open(candidate);
		this.backend.acquire(this.holder);
		this.admin.set(name("-waiters"), FOREIGN);
		assertIsNamedToWhoHasToWait("-waiters");
		assertThat(this.admin.exists(name("-alive"))).as("registered in part").isFalse();
	}

	@ParameterizedTest
	@MethodSource("candidates")
	void somethingInPlaceOfTheLivenessStays(AtomicityCase candidate) {
		open(candidate);
		this.backend.acquire(this.holder);
		// A waiter of a JVM that does without scripts, and keeps no liveness.
		this.admin.zadd(name("-waiters"), 1, "b");
		this.admin.set(name("-alive"), FOREIGN);
		this.backend.withdraw("k", Waiter.exclusive("b"), Set.of());
		assertThat(this.admin.exists(name("-waiters"))).isFalse();
		assertThat(this.backend.release("k", this.holder.owner())).isTrue();
		assertThat(this.admin.get(name("-alive"))).isEqualTo(FOREIGN);
	}

	@ParameterizedTest
	@MethodSource("candidates")
	void somethingInPlaceOfTheLivenessIsNamedToWhoHasToWait(AtomicityCase candidate) {
		open(candidate);
		this.backend.acquire(this.holder);
		this.admin.set(name("-alive"), FOREIGN);
		if (candidate.candidate().equals("lua")) {
			assertIsNamedToWhoHasToWait("-alive");
			assertThat(this.admin.exists(name("-waiters"))).as("registered in part").isFalse();
		}
		else {
			assertThat(this.backend.acquireOrRegister(claim("b")).acquired()).as("not used without scripts").isFalse();
		}
	}

	@ParameterizedTest
	@MethodSource("candidates")
	void somethingInPlaceOfTheLastFencingTokenIsNamed(AtomicityCase candidate) {
		open(candidate);
		for (String nonsense : List.of("something else", "", "-1", "1.5", "1e3", " 7", "9007199254740992",
				"9".repeat(30))) {
			this.admin.set(name("-fence"), nonsense);
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.backend.acquire(fenced("b")))
				.withMessageContaining("'k'")
				.withMessageContaining("Redis key '" + name("-fence") + "' holds a string that is no token")
				.withMessageContaining("remove or rename it, or choose another key prefix")
				.satisfies((ex) -> assertThat(ex.isRetryable()).as("retryable").isFalse());
			assertThat(this.admin.get(name("-fence"))).isEqualTo(nonsense);
			this.backend.release("k", fenced("b").owner());
			assertThat(this.admin.exists(name(""))).as("still locked").isFalse();
		}
		this.admin.set(name("-fence"), "9007199254740990", SetParams.setParams().px(60_000));
		assertThat(this.backend.acquire(fenced("b")).fencingToken()).isEqualTo(9007199254740991L);
	}

	@ParameterizedTest
	@MethodSource("candidates")
	void aForeignTypeInPlaceOfTheLastFencingTokenIsNamed(AtomicityCase candidate) {
		open(candidate);
		this.admin.rpush(name("-fence"), FOREIGN);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.backend.acquire(fenced("b")))
			.withMessageContainingAll("lock 'k' (Redis key '", name("-fence"))
			.withMessageContaining("remove or rename it, or choose another key prefix");
		this.backend.release("k", fenced("b").owner());
		assertThat(this.admin.exists(name(""))).as("still locked").isFalse();
	}

	/**
	 * The step that gives all of them back fails there, and has done what comes before.
	 * The others are given back one by one, long before their lease ends.
	 */
	@ParameterizedTest
	@MethodSource("candidates")
	void aForeignValueUnderOneKeyDoesNotKeepTheLocksOfTheOtherKeys(AtomicityCase candidate) {
		open(candidate);
		try (LockEngine engine = LockEngine.builder(this.backend).watchdogTimeout(Duration.ofMinutes(10)).build()) {
			LockHandle handle = engine.acquire(LockRequest.of(List.of("a", "k", "z")));
			this.admin.del(name(""));
			this.admin.rpush(name(""), FOREIGN);
			handle.close();
			await("the locks beside it are given back").untilAsserted(
					() -> assertThat(this.admin.exists(this.prefix + ":{a}", this.prefix + ":{z}")).isZero());
			assertThat(this.admin.lrange(name(""), 0, -1)).containsExactly(FOREIGN);
		}
	}

	@ParameterizedTest
	@MethodSource("candidates")
	void theKeyIsNamedWithoutItsControlCharacters(AtomicityCase candidate) {
		open(candidate);
		this.admin.rpush(this.prefix + ":{k\n\u001b[31m}", FOREIGN);
		Claim claim = Claim.of("k\n\u001b[31m", "b:1", "b", Duration.ofSeconds(30));
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.backend.acquire(claim))
			.withMessageContaining("lock 'k\\n\\u001b[31m' (Redis key '" + this.prefix + ":{k\\n\\u001b[31m}'")
			.satisfies((ex) -> assertThat(ex.getMessage()).doesNotContainPattern("\\p{Cntrl}"));
	}

	private void assertIsNamedToWhoHasToWait(String companion) {
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.backend.acquireOrRegister(claim("b")))
			.withMessageContainingAll("lock 'k' (Redis key '", name(companion))
			.withMessageContaining("WRONGTYPE")
			.withMessageContaining("remove or rename it, or choose another key prefix")
			.satisfies((ex) -> assertThat(ex.isRetryable()).as("retryable").isFalse());
		assertThat(this.admin.get(name(companion))).isEqualTo(FOREIGN);
		assertThat(this.backend.release("k", this.holder.owner())).isTrue();
	}

	private void open(AtomicityCase candidate) {
		this.admin = new Jedis(candidate.server());
		this.backend = candidate.backend(Client.LETTUCE, this.prefix);
		assertThat(this.backend.atomicity()).isEqualTo(candidate.atomicity());
		this.backend.listen("b", new Ear());
	}

	private String name(String companion) {
		return this.prefix + companion + ":{k}";
	}

	private static Claim fenced(String instance) {
		Claim claim = claim(instance);
		return Claim.of("k", claim.owner(), instance, claim.lease()).fenced(true);
	}

	private static Claim claim(String instance) {
		return Claim.of("k", instance + ":1", instance, Duration.ofSeconds(30));
	}

}
