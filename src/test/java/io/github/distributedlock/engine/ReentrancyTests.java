package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockInterruptedException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.ReleaseOn;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.internal.Binding;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Contract 3, and what is current where.
 */
class ReentrancyTests extends EngineFixture {

	@Test
	void reenteringTakesNoCommandAndTheLastHandleReleases() {
		LockHandle outer = this.engine.acquire("k");
		LockHandle inner = this.engine.acquire("k");
		assertThat(inner.owner()).isEqualTo(outer.owner());
		inner.close();
		assertThat(outer.isHeld()).isTrue();
		assertThat(this.backend.steps()).containsExactly("acquire k");
		outer.close();
		assertThat(this.backend.steps()).containsExactly("acquire k", "release k");
		assertThat(events(LockEvent.Acquired.class)).hasSize(1);
	}

	@Test
	void outerHandleClosedFirstLeavesTheLockToTheInnerOne() {
		LockHandle outer = this.engine.acquire("k");
		LockHandle inner = this.engine.acquire("k");
		outer.close();
		assertThat(inner.isHeld()).isTrue();
		assertThat(holderOf("k")).isNotNull();
		inner.close();
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void innerRequestDoesNotChangeTheOuterLease() {
		LockHandle outer = this.engine.acquire("k");
		Duration before = outer.remaining();
		LockHandle inner = this.engine.acquire(request("k").leaseTime(Duration.ofMillis(200)));
		assertThat(outer.remaining()).isEqualTo(before);
		this.time.advance(Duration.ofMinutes(5));
		assertThat(inner.isHeld()).isTrue();
	}

	@Test
	void innerMinHoldTimeIsKept() {
		LockHandle outer = this.engine.acquire("k");
		this.time.advance(Duration.ofSeconds(5));
		this.engine.acquire(request("k").minHoldTime(Duration.ofSeconds(3))).close();
		outer.close();
		assertThat(holderOf("k").state()).isEqualTo(Holder.State.EXPIRING);
		this.time.advance(Duration.ofMillis(3100));
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void longestMinHoldTimeIsKeptWhicheverRequestAskedForIt() {
		LockHandle outer = this.engine.acquire(request("k").minHoldTime(Duration.ofSeconds(5)));
		this.engine.acquire(request("k").minHoldTime(Duration.ofSeconds(1))).close();
		outer.close();
		this.time.advance(Duration.ofMillis(4900));
		assertThat(holderOf("k").state()).isEqualTo(Holder.State.EXPIRING);
		this.time.advance(Duration.ofMillis(200));
		assertThat(holderOf("k")).isNull();
	}

	@ParameterizedTest
	@MethodSource
	void minHoldTimeThatTheOuterLockCannotKeepIsRefusedBeforeItEnters(LockRequest outerRequest, String why) {
		LockHandle outer = this.engine.acquire(outerRequest);
		this.time.advance(Duration.ofSeconds(1));
		this.backend.forgetSteps();
		for (LockRequest inner : List.of(request("k"), LockRequest.of("a", "k"))) {
			assertThatIllegalArgumentException()
				.isThrownBy(() -> this.engine.acquire(inner.minHoldTime(Duration.ofMillis(9100))))
				.withMessageContainingAll("Lock 'k'", "a minHoldTime of 9100 ms", why + " that ends in 9 s",
						"Request the outer lock with a longer one");
		}
		assertThat(this.backend.steps()).isEmpty();
		this.engine.acquire(request("k").minHoldTime(Duration.ofSeconds(8))).close();
		outer.close();
		assertThat(holderOf("k").state()).isEqualTo(Holder.State.EXPIRING);
		this.time.advance(Duration.ofMillis(7900));
		assertThat(holderOf("k")).isNotNull();
	}

	static Stream<Arguments> minHoldTimeThatTheOuterLockCannotKeepIsRefusedBeforeItEnters() {
		Duration ten = Duration.ofSeconds(10);
		return Stream.of(Arguments.of(request("k").leaseTime(ten), "leaseTime"),
				Arguments.of(request("k").maxHoldTime(ten), "maxHoldTime"));
	}

	@Test
	void requestThatFailsLeavesNoMinHoldTimeBehind() {
		ownedElsewhere("a", LEASE);
		LockHandle outer = this.engine.acquire("k");
		assertThat(this.engine.tryAcquire(LockRequest.of("a", "k").minHoldTime(LEASE).releaseOn(ReleaseOn.EXPIRY)))
			.isEmpty();
		outer.close();
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void handleThatIsUndoneLeavesNoMinHoldTimeBehind() {
		for (LockRequest inner : List.of(request("k"), LockRequest.of("a", "k"))) {
			LockHandle outer = this.engine.acquire("k");
			this.engine.acquire(inner.minHoldTime(Duration.ofSeconds(5))).undo();
			this.engine.acquire(inner.releaseOn(ReleaseOn.EXPIRY)).undo();
			outer.close();
			assertThat(holderOf("k")).isNull();
		}
	}

	@Test
	void minHoldTimeIsKeptIfAnInnerRequestEndsLastAndFails() {
		ownedElsewhere("l", LEASE);
		LockHandle outer = this.engine.acquire(request("k").minHoldTime(Duration.ofSeconds(5)));
		this.backend.before("acquire", outer::close);
		assertThat(this.engine.tryAcquire(LockRequest.of("k", "l"))).isEmpty();
		assertKeptForFiveSeconds();
	}

	@Test
	void minHoldTimeIsKeptIfAnInnerHandleEndsLastAndIsUndone() {
		LockHandle outer = this.engine.acquire(request("k").minHoldTime(Duration.ofSeconds(5)));
		LockHandle inner = this.engine.acquire("k");
		outer.close();
		inner.undo();
		assertKeptForFiveSeconds();
	}

	private void assertKeptForFiveSeconds() {
		assertThat(holderOf("k")).isNotNull().extracting(Holder::state).isEqualTo(Holder.State.EXPIRING);
		this.time.advance(Duration.ofMillis(5100));
		assertThat(holderOf("k")).isNull();
		assertThat(events(LockEvent.Released.class)).as("the outer lock was used").hasSize(1);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void lockIsLeftToRunOutIfAnyRequestAskedForIt(boolean severalKeys) {
		LockRequest inner = severalKeys ? LockRequest.of("a", "k") : request("k");
		LockHandle outer = this.engine.acquire(request("k"));
		this.engine.acquire(inner.releaseOn(ReleaseOn.EXPIRY)).close();
		assertThat(outer.isHeld()).isTrue();
		outer.close();
		assertThat(holderOf("k").state()).isEqualTo(Holder.State.EXPIRING);
		this.time.advance(LEASE.minusSeconds(1));
		assertThat(holderOf("k")).isNotNull();
		this.time.advance(Duration.ofSeconds(2));
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void innerRequestDoesNotTakeBackThatTheLockIsLeftToRunOut() {
		LockHandle outer = this.engine.acquire(request("k").releaseOn(ReleaseOn.EXPIRY));
		this.engine.acquire(request("k")).close();
		outer.close();
		assertThat(holderOf("k").state()).isEqualTo(Holder.State.EXPIRING);
	}

	@Test
	void interruptedThreadReentersWhatItHolds() {
		LockHandle one = this.engine.acquire("a");
		LockHandle other = this.engine.acquire("b");
		Thread.currentThread().interrupt();
		try {
			assertThat(this.engine.acquire("a").owner()).isEqualTo(one.owner());
			assertThat(this.engine.acquire(LockRequest.of("a", "b")).isHeld()).isTrue();
			assertThatExceptionOfType(LockInterruptedException.class)
				.isThrownBy(() -> this.engine.acquire(LockRequest.of("a", "c")));
			assertThat(this.backend.steps()).containsExactly("acquire a", "acquire b");
			assertThat(Thread.currentThread().isInterrupted()).isTrue();
		}
		finally {
			Thread.interrupted();
		}
		other.close();
	}

	@Test
	void handleOfManyKeysIsReenteredByEach() {
		List<String> keys = IntStream.range(0, 50).mapToObj((number) -> "k" + number).toList();
		LockHandle outer = this.engine.acquire(LockRequest.of(keys));
		this.backend.forgetSteps();
		for (String key : keys) {
			assertThat(this.engine.acquire(key).keys()).containsExactly(key);
		}
		assertThat(this.engine.acquire(LockRequest.of(keys)).owner()).isEqualTo(outer.owner());
		assertThat(this.backend.steps()).isEmpty();
	}

	@Test
	void reentersSomeKeysAndAcquiresOthers() {
		LockHandle outer = this.engine.acquire("a");
		LockHandle both = this.engine.acquire(LockRequest.of("a", "b"));
		assertThat(this.backend.steps()).containsExactly("acquire a", "acquire b");
		both.close();
		assertThat(this.backend.steps()).containsExactly("acquire a", "acquire b", "release b");
		assertThat(outer.isHeld()).isTrue();
	}

	@Test
	void anotherThreadDoesNotReenter() {
		LockHandle handle = this.engine.acquire("k");
		assertThat(inThread(() -> this.engine.tryAcquire("k").isPresent()).join()).isFalse();
		handle.close();
	}

	@Test
	void pooledThreadDoesNotReenterWhatWasTakenAwayFromIt() {
		LockHandle handle = this.engine.acquire("k");
		Binding.unbind(handle);
		assertThat(LockHandle.current()).isEmpty();
		assertThat(this.engine.tryAcquire("k")).isEmpty();
		handle.close();
	}

	@Test
	void threadThatTheHandleIsBoundToReenters() {
		LockHandle handle = this.engine.acquire("k");
		boolean entered = inThread(() -> {
			try (Binding binding = Binding.bind(handle)) {
				assertThat(LockHandle.current()).containsSame(handle);
				this.engine.acquire("k").close();
				return handle.isHeld();
			}
		}).join();
		assertThat(entered).isTrue();
		handle.close();
	}

	@Test
	void lostHandleIsNotReentered() {
		LockHandle handle = this.engine.acquire(request("k").leaseTime(Duration.ofSeconds(1)));
		this.time.advance(Duration.ofSeconds(2));
		LockHandle fresh = this.engine.tryAcquire("k").orElseThrow();
		assertThat(fresh.owner()).isNotEqualTo(handle.owner());
		assertThat(handle.isHeld()).isFalse();
	}

	@Test
	void closedHandleIsNotReentered() {
		LockHandle handle = this.engine.acquire("k");
		inThread(() -> {
			handle.close();
			return true;
		}).join();
		LockHandle fresh = this.engine.tryAcquire("k").orElseThrow();
		assertThat(fresh.owner()).isNotEqualTo(handle.owner());
	}

	@Test
	void handleOfAnotherEngineIsNotReentered() {
		LockEngine other = engine(this.store, "other");
		try (LockHandle handle = this.engine.acquire("k")) {
			assertThat(other.tryAcquire("k")).isEmpty();
		}
	}

	@Test
	void currentIsTheInnermostOpenHandle() {
		assertThat(LockHandle.current()).isEmpty();
		try (LockHandle outer = this.engine.acquire("a")) {
			try (LockHandle inner = this.engine.acquire("b")) {
				assertThat(LockHandle.current()).containsSame(inner);
			}
			assertThat(LockHandle.current()).containsSame(outer);
		}
		assertThat(LockHandle.current()).isEmpty();
	}

}
