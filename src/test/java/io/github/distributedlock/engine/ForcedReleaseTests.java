package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.LockStatus.Holder;
import io.github.distributedlock.backend.ForwardingLockBackend;
import io.github.distributedlock.fixtures.SmallestBackend;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

/**
 * Tests for {@link LockEngine#forceRelease}: the operator is another JVM, unless a test
 * says otherwise.
 */
class ForcedReleaseTests extends EngineFixture {

	private final LockEngine operator = engine(this.store, "operator");

	@Test
	void holderIsToldAtItsNextRenewal() {
		LockHandle handle = this.engine.acquire("k");
		AtomicInteger told = new AtomicInteger();
		handle.onLost(told::incrementAndGet);
		assertThat(this.operator.forceRelease("k", shown("k"))).isTrue();
		assertThat(holderOf("k")).as("free for the next").isNull();
		assertThat(handle.isHeld()).as("not known here yet").isTrue();
		this.time.advance(LEASE.dividedBy(3));
		assertThat(told).hasValue(1);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::checkHeld)
			.withMessageContaining("an operator has released the key by force")
			.returns(Reason.FORCED_RELEASE, LockLostException::reason);
		assertLost(handle);
		assertThat(this.engine.snapshot().losses()).containsOnlyKeys(Reason.FORCED_RELEASE);
	}

	@Test
	void holderOfTheSameJvmIsToldAtOnce() {
		LockHandle handle = this.engine.acquire("k");
		assertThat(this.engine.forceRelease("k", handle.owner())).isTrue();
		assertThat(handle.isHeld()).isFalse();
		assertLost(handle);
	}

	@Test
	void holderWithAFixedLeaseIsToldAtItsRelease() {
		LockHandle handle = this.engine.acquire(request("k").leaseTime(Duration.ofHours(1)));
		assertThat(this.operator.forceRelease("k", shown("k"))).isTrue();
		this.time.advance(Duration.ofMinutes(30));
		assertThat(handle.isHeld()).isTrue();
		assertThat(handle.release()).isFalse();
		assertLost(handle);
	}

	@Test
	void holderWithAFixedLeaseIsToldAtItsExtension() {
		LockHandle handle = this.engine.acquire(request("k").leaseTime(Duration.ofSeconds(10)));
		assertThat(this.operator.forceRelease("k", shown("k"))).isTrue();
		assertThat(handle.extend(Duration.ofSeconds(20))).isFalse();
		assertLost(handle);
	}

	@Test
	void anotherOwnerChangesNothing() {
		LockHandle handle = this.engine.acquire("k");
		LockStatus before = this.store.inspect("k");
		assertThat(this.operator.forceRelease("k", "other#1:1")).isFalse();
		assertThat(this.operator.forceRelease("free", handle.owner())).isFalse();
		assertThat(this.store.inspect("k")).isEqualTo(before);
		assertThat(this.store.inspect(trace(handle.owner())).isFree()).isTrue();
		this.time.advance(LEASE);
		assertThat(handle.release()).isTrue();
	}

	@Test
	void theNextOwnerKeepsTheKey() {
		String former = owner(this.engine.acquire("k"));
		assertThat(this.operator.forceRelease("k", former)).isTrue();
		LockHandle next = engine(this.store, "next").acquire("k");
		assertThat(this.operator.forceRelease("k", former)).isFalse();
		this.time.advance(LEASE);
		assertThat(next.release()).isTrue();
	}

	/** Its holder has ended, and the key is free by itself. */
	@Test
	void keyThatIsLeftToExpireStays() {
		LockHandle handle = this.engine.acquire(request("k").minHoldTime(LEASE));
		handle.close();
		assertThat(this.operator.forceRelease("k", handle.owner())).isFalse();
		assertThat(this.store.inspect("k").isFree()).isFalse();
	}

	@Test
	void ownerThatReleasesMeanwhileIsNotReported() {
		LockHandle handle = this.operator.acquire("k");
		this.backend.next("acquire", (step) -> {
			Object answer = step.get();
			handle.close();
			return answer;
		});
		assertThat(this.engine.forceRelease("k", handle.owner())).isFalse();
		String trace = trace(handle.owner());
		assertThat(this.backend.steps()).containsExactly("acquire " + trace, "release k", "release " + trace);
		assertThat(this.store.inspect(trace).isFree()).isTrue();
	}

	@Test
	void onlyTheNamedReaderLosesItsShare() {
		LockRequest reader = request("k").mode(LockMode.SHARED);
		onlyTheNamedOneLoses(this.engine.acquire(reader), engine(this.store, "reader").acquire(reader));
	}

	@Test
	void onlyTheNamedPermitIsTaken() {
		LockRequest permit = request("k").permits(2);
		onlyTheNamedOneLoses(this.engine.acquire(permit), engine(this.store, "permit").acquire(permit));
	}

	private void onlyTheNamedOneLoses(LockHandle named, LockHandle other) {
		assertThat(this.operator.forceRelease("k", named.owner())).isTrue();
		this.time.advance(LEASE.dividedBy(3));
		assertLost(named);
		assertThat(this.store.inspect("k").holders()).extracting(Holder::owner).containsExactly(other.owner());
		assertThat(other.release()).isTrue();
	}

	@Test
	void keyThatStaysWithItsJvmIsFree() {
		this.backend.granting();
		LockHandle handle = this.engine.acquire(request("k").keepTime(Duration.ofMinutes(1)));
		handle.close();
		assertThat(this.store.inspect("k").holders()).extracting(Holder::owner).containsExactly(handle.owner());
		assertThat(this.operator.forceRelease("k", handle.owner())).isTrue();
		assertThat(holderOf("k")).isNull();
		this.time.advance(LEASE.dividedBy(3));
		assertThat(this.engine.keysKept()).isZero();
	}

	@Test
	void waiterIsNext() {
		LockHandle handle = engine(this.store, "them").acquire("k");
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", Duration.ofSeconds(20)));
		assertThat(this.operator.forceRelease("k", handle.owner())).isTrue();
		assertThat(waiter).succeedsWithin(PATIENCE).satisfies(LockHandle::close);
		handle.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "\n" })
	void badInputIsRefusedBeforeTheStoreIsAsked(String blank) {
		this.backend.breaks(ScriptedBackend.LOST_REQUEST);
		assertThatIllegalArgumentException().isThrownBy(() -> this.engine.forceRelease(blank, "o#1:1"));
		assertThatIllegalArgumentException().isThrownBy(() -> this.engine.forceRelease("k", blank))
			.withMessageContaining("'k'")
			.withMessageContaining("Name the owner");
		assertThatIllegalArgumentException().isThrownBy(() -> this.engine.forceRelease("k".repeat(10_000), "o#1:1"));
		assertThatNullPointerException().isThrownBy(() -> this.engine.forceRelease("k", null));
		assertThat(this.backend.steps()).isEmpty();
	}

	@Test
	void storeThatDoesNotSayWhoHasAKeyRefuses() {
		LockEngine plain = engine(new SmallestBackend(), "plain");
		assertThatExceptionOfType(UnsupportedOperationException.class)
			.isThrownBy(() -> plain.forceRelease("k", "o#1:1"))
			.withMessageContaining("INSPECTION");
	}

	@Test
	void storeThatFailsHasReleasedNothing() {
		LockHandle handle = this.operator.acquire("k");
		this.backend.breaks(ScriptedBackend.LOST_REQUEST);
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.engine.forceRelease("k", handle.owner()));
		this.time.advance(LEASE);
		assertThat(handle.release()).isTrue();
	}

	@Test
	void storeThatHasLostAllKeysIsNotAskedForEach() {
		AtomicInteger asked = new AtomicInteger();
		LockEngine holder = engine(new ForwardingLockBackend(this.store) {

			@Override
			public LockStatus inspect(String key) {
				asked.incrementAndGet();
				return super.inspect(key);
			}

		}, "many");
		List<LockHandle> handles = IntStream.range(0, 50)
			.mapToObj((i) -> holder.acquire(request("k" + i).detached(true)))
			.toList();
		handles.forEach((handle) -> this.store.release(handle.keys().get(0), handle.owner()));
		this.time.advance(LEASE.dividedBy(3));
		assertThat(events(LockEvent.Lost.class)).hasSize(50)
			.extracting(LockEvent.Lost::reason)
			.containsOnly(Reason.TAKEN);
		assertThat(asked).hasValue(10);
	}

	/** The trace ends with the lease that was lost. */
	@Test
	void nothingIsLeftInTheStore() {
		LockHandle handle = this.engine.acquire("k");
		assertThat(this.operator.forceRelease("k", handle.owner())).isTrue();
		assertThat(this.store.inspect(trace(handle.owner())).isFree()).isFalse();
		this.time.advance(LEASE);
		assertThat(this.store.inspect(trace(handle.owner())).isFree()).isTrue();
		handle.close();
	}

	private void assertLost(LockHandle handle) {
		assertThat(events(LockEvent.Lost.class)).singleElement()
			.returns(Reason.FORCED_RELEASE, LockEvent.Lost::reason)
			.returns(handle.owner(), LockEvent.Lost::owner);
		handle.close();
	}

	private String shown(String key) {
		return this.operator.inspect(key).holders().get(0).owner();
	}

	private static String owner(LockHandle handle) {
		return handle.owner();
	}

	private static String trace(String owner) {
		return "forced-release:" + owner.substring(owner.indexOf('#') + 1);
	}

}
