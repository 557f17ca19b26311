package io.github.distributedlock;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.concurrent.JdkLocks;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

class LockRequestTests {

	private static final LockRequest REQUEST = LockRequest.of("k");

	private static final Map<String, Function<Duration, LockRequest>> DURATIONS = Map.of("waitTime", REQUEST::waitTime,
			"leaseTime", REQUEST::leaseTime, "maxHoldTime", REQUEST::maxHoldTime, "minHoldTime", REQUEST::minHoldTime);

	private static final Map<String, UnaryOperator<LockRequest>> TAKEN_BACK = Map.of("waitTime",
			(request) -> request.waitTime(null), "leaseTime", (request) -> request.leaseTime(null), "maxHoldTime",
			(request) -> request.maxHoldTime(null), "minHoldTime", (request) -> request.minHoldTime(null));

	@Test
	void keysKeepTheirOrderAndCountOnce() {
		assertThat(LockRequest.of("b", "a", "b").keys()).containsExactly("b", "a");
	}

	@Test
	void keysThatCouldBeConfusedIfTheyWereJoinedAreNot() {
		assertThat(LockRequest.of("a", "b:c").keys()).isNotEqualTo(LockRequest.of("a:b", "c").keys());
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "\t\n" })
	void blankKeyIsRefused(String key) {
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of("a", key))
			.withMessageContainingAll("Lock key 1 of",
					"is blank: it would lock more, or less, than was meant. Check the values that the key is made from");
	}

	@Test
	void nullKeyIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of(Arrays.asList("a", null)))
			.withMessageContaining("Lock key 1 of [a, null] is null");
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of((String) null))
			.withMessageContaining("Lock key 0 of [null] is null")
			.withMessageEndingWith("was meant. Check the values that the key is made from");
	}

	@Test
	void noKeyIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of(Collections.emptyList()))
			.withMessage("A lock needs at least one key");
		assertThatIllegalArgumentException().isThrownBy(() -> REQUEST.keys(List.of()));
	}

	@Test
	void whatDoesNotGoTogetherIsRefusedAsAWhole() {
		LockRequest shared = REQUEST.mode(LockMode.SHARED);
		assertThatIllegalArgumentException().isThrownBy(() -> shared.fair(true).requireValid())
			.withMessageContainingAll("Lock [k]", "SHARED and fair", "Request it without fair");
		assertThatIllegalArgumentException().isThrownBy(() -> shared.fenced(true).requireValid())
			.withMessageContainingAll("Lock [k]", "SHARED and fenced", "Request it without fenced");
		assertThatIllegalArgumentException().isThrownBy(() -> REQUEST.fair(true).mode(LockMode.SHARED).requireValid());
		assertThatIllegalArgumentException()
			.isThrownBy(() -> REQUEST.fenced(true).mode(LockMode.SHARED).requireValid());
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of("a", "b").fenced(true).requireValid())
			.withMessageContainingAll("Lock [a, b]", "a fencing token is of one key", "the others around it");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> REQUEST.fenced(true).keys(List.of("a", "b")).requireValid());
		REQUEST.fair(true).fenced(true).fenced(true).requireValid();
		REQUEST.fair(true).fenced(true).mode(LockMode.SHARED).fair(false).fenced(false).requireValid();
	}

	@Test
	void eachLockRefusesWhatDoesNotGoTogether() {
		LockRequest invalid = REQUEST.fair(true).mode(LockMode.SHARED);
		try (LockEngine engine = LockEngine.builder(new InMemoryLockBackend()).build()) {
			assertThatIllegalArgumentException().isThrownBy(() -> engine.acquire(invalid))
				.withMessageContaining("SHARED and fair");
			assertThatIllegalArgumentException().isThrownBy(() -> engine.tryAcquire(invalid));
			assertThat(engine.acquireAsync(invalid)).failsWithin(Patience.PATIENCE)
				.withThrowableOfType(ExecutionException.class)
				.withCauseInstanceOf(IllegalArgumentException.class);
			assertThat(engine.tryAcquireAsync(invalid)).failsWithin(Patience.PATIENCE);
			assertThatIllegalArgumentException().isThrownBy(() -> new JdkLocks(engine).lock(invalid));
			assertThat(engine.snapshot().holds()).isEmpty();
		}
	}

	@Test
	void eachSettingCanBeTakenBack() {
		DURATIONS.keySet().forEach((what) -> {
			LockRequest set = DURATIONS.get(what).apply(Duration.ofSeconds(1));
			assertThat(TAKEN_BACK.get(what).apply(set)).as(what).isEqualTo(REQUEST);
		});
		assertThat(REQUEST.name("n").name(null)).isEqualTo(REQUEST);
		assertThat(REQUEST.mode(LockMode.SHARED).mode(LockMode.EXCLUSIVE)).isEqualTo(REQUEST);
		assertThat(REQUEST.permits(2).permits(1)).isEqualTo(REQUEST);
		assertThat(REQUEST.awaitedOnStop(true).awaitedOnStop(null)).isEqualTo(REQUEST);
		assertThat(REQUEST.awaitedOnStop(false)).isNotEqualTo(REQUEST)
			.hasToString("LockRequest[keys=[k], name=unnamed, mode=EXCLUSIVE, awaitedOnStop=false]");
	}

	@Test
	void negativeDurationsAreRefused() {
		DURATIONS.forEach((what, wither) -> assertThatIllegalArgumentException().as(what)
			.isThrownBy(() -> wither.apply(Duration.ofMillis(-1)))
			.withMessageStartingWith(what + " -1 ms is out of range"));
	}

	@Test
	void durationsThatOverflowAreRefused() {
		DURATIONS.forEach((what, wither) -> assertThatIllegalArgumentException().as(what)
			.isThrownBy(() -> wither.apply(Duration.ofSeconds(Long.MAX_VALUE)))
			.withMessageEndingWith("at most 365 days"));
		DURATIONS.forEach((what, wither) -> assertThatIllegalArgumentException().as(what)
			.isThrownBy(() -> wither.apply(Duration.ofSeconds(Long.MIN_VALUE, 1)))
			.withMessageStartingWith(what + " " + Long.MIN_VALUE + " s is out of range"));
	}

	@Test
	void zeroIsAWaitButNoLease() {
		assertThat(REQUEST.waitTime(Duration.ZERO).waitTime()).isZero();
		assertThatIllegalArgumentException().isThrownBy(() -> REQUEST.leaseTime(Duration.ZERO))
			.withMessage("leaseTime 0 ms is out of range: at least 100 ms, at most 365 days");
		assertThatIllegalArgumentException().isThrownBy(() -> REQUEST.leaseTime(Duration.ofMillis(99)));
	}

	@Test
	void whatIsNullIsNamed() {
		assertThatNullPointerException().isThrownBy(() -> REQUEST.mode(null)).withMessage("mode");
		assertThatNullPointerException().isThrownBy(() -> REQUEST.keys(null)).withMessage("keys");
	}

	@Test
	void minHoldTimeIsNotLongerThanTheLeaseOrTheLongestHold() {
		Duration longer = Duration.ofSeconds(2);
		Duration shorter = Duration.ofSeconds(1);
		assertThatIllegalArgumentException()
			.isThrownBy(() -> REQUEST.minHoldTime(longer).leaseTime(shorter).requireValid())
			.withMessage(
					"minHoldTime 2 s of lock [k] is longer than its leaseTime 1 s: the lock would be free before its minHoldTime is over");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> REQUEST.leaseTime(shorter).minHoldTime(longer).requireValid());
		assertThatIllegalArgumentException()
			.isThrownBy(() -> REQUEST.maxHoldTime(shorter).minHoldTime(longer).requireValid())
			.withMessageContaining("maxHoldTime 1 s");
		REQUEST.leaseTime(longer).minHoldTime(longer).requireValid();
	}

	@Test
	void withersLeaveTheRequestAsItIs() {
		LockRequest all = REQUEST.waitTime(Duration.ofSeconds(1))
			.leaseTime(Duration.ofSeconds(4))
			.maxHoldTime(Duration.ofSeconds(5))
			.minHoldTime(Duration.ofSeconds(2))
			.fair(true)
			.releaseOn(ReleaseOn.EXPIRY)
			.detached(true)
			.awaitedOnStop(true)
			.interruptible(false)
			.name("n");
		LockRequest other = all.keys(List.of("a", "b"));
		assertThat(other).hasToString("LockRequest[keys=[a, b], name=n, mode=EXCLUSIVE, waitTime=1 s, leaseTime=4 s,"
				+ " maxHoldTime=5 s, minHoldTime=2 s, releaseOn=EXPIRY, fair, detached, awaitedOnStop, uninterruptible]");
		assertThat(REQUEST.mode(LockMode.SHARED)).hasToString("LockRequest[keys=[k], name=unnamed, mode=SHARED]");
		assertThat(REQUEST.fenced(true)).hasToString("LockRequest[keys=[k], name=unnamed, mode=EXCLUSIVE, fenced]");
		assertThat(all.keys()).containsExactly("k");
		assertThat(REQUEST).hasToString("LockRequest[keys=[k], name=unnamed, mode=EXCLUSIVE]");
	}

	@Test
	void equalRequestsAskForTheSameKeysInTheSameWay() {
		Stream<Supplier<LockRequest>> ways = Stream.of(() -> REQUEST.mode(LockMode.SHARED), () -> REQUEST.fair(true),
				() -> REQUEST.fenced(true), () -> REQUEST.releaseOn(ReleaseOn.EXPIRY), () -> REQUEST.detached(true),
				() -> REQUEST.awaitedOnStop(true), () -> REQUEST.interruptible(false), () -> REQUEST.name("n"),
				() -> REQUEST.keys(List.of("other")));
		Stream<Supplier<LockRequest>> times = DURATIONS.values()
			.stream()
			.map((wither) -> () -> wither.apply(Duration.ofSeconds(1)));
		Stream.concat(ways, times)
			.forEach((way) -> assertThat(way.get()).isEqualTo(way.get())
				.hasSameHashCodeAs(way.get())
				.isNotEqualTo(REQUEST));
		assertThat(REQUEST).isEqualTo(LockRequest.of("k").fair(true).fair(false)).isNotEqualTo("k");
		assertThat(LockRequest.of("a", "b")).isNotEqualTo(LockRequest.of("b", "a"));
	}

	@Test
	void nameIsNotBlank() {
		assertThatIllegalArgumentException().isThrownBy(() -> REQUEST.name(" "));
	}

}
