package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
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
import io.github.distributedlock.backend.LockBackend;
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
		assertThat(this.store.inspect(trace("k", handle.owner())).isFree()).isTrue();
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

	/** The holder has ended, and the key will be free when the lease ends. */
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
		afterTheTrace(handle::close);
		assertThat(this.engine.forceRelease("k", handle.owner())).isFalse();
		assertThat(this.backend.steps()).containsExactly("acquire " + trace("k", handle.owner()), "release k");
	}

	@Test
	void operatorWhoComesTooLateLeavesTheTraceOfTheOther() {
		LockHandle handle = engine(this.store, "holder").acquire("k");
		afterTheTrace(() -> assertThat(this.operator.forceRelease("k", handle.owner())).isTrue());
		assertThat(this.engine.forceRelease("k", handle.owner())).isFalse();
		this.time.advance(LEASE.dividedBy(3));
		assertLost(handle);
	}

	private void afterTheTrace(Runnable action) {
		this.backend.after("acquire", () -> action.run());
	}

	/** The store refuses, as one without memory, or without the right to make a key. */
	@Test
	void releaseNeedsNoTrace() {
		LockHandle handle = this.operator.acquire("k");
		this.backend.next("acquire", ScriptedBackend.NOT_NOW);
		assertThat(this.engine.forceRelease("k", handle.owner())).isTrue();
		assertThat(holderOf("k")).isNull();
		this.time.advance(LEASE.dividedBy(3));
		assertThat(reasons()).containsExactly(Reason.TAKEN);
		handle.close();
	}

	@Test
	void otherKeyOfTheRequestIsLostForItsOwnReason() {
		LockHandle handle = this.engine.acquire(LockRequest.of("a", "b"));
		assertThat(this.operator.forceRelease("a", handle.owner())).isTrue();
		this.store.release("b", handle.owner());
		this.time.advance(LEASE.dividedBy(3));
		assertThat(events(LockEvent.Lost.class)).extracting((lost) -> lost.key() + " " + lost.reason())
			.containsExactlyInAnyOrder("a FORCED_RELEASE", "b TAKEN");
		handle.close();
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
		LockEngine holder = engine(looking((look) -> {
			asked.incrementAndGet();
			return look.get();
		}), "many");
		lose(acquireDetached(holder, 50));
		this.time.advance(LEASE.dividedBy(3));
		assertThat(reasons()).hasSize(50).containsOnly(Reason.TAKEN);
		assertThat(asked).hasValue(10);
	}

	@Test
	void renewalsOfOtherLocksCountBeforeAnyLook() {
		List<LockHandle> healthy = new ArrayList<>();
		List<Duration> remaining = new ArrayList<>();
		LockEngine holder = engine(looking((look) -> {
			healthy.forEach((handle) -> remaining.add(handle.remaining()));
			return look.get();
		}), "many");
		List<LockHandle> handles = acquireDetached(holder, 8);
		healthy.addAll(handles.subList(0, 4));
		lose(handles.subList(4, 8));
		this.time.advance(LEASE.dividedBy(3));
		assertThat(remaining).hasSize(16).containsOnly(healthy.get(0).remaining());
	}

	@Test
	void looksPauseAfterOneThatFails() {
		AtomicInteger asked = new AtomicInteger();
		LockEngine holder = engine(looking((look) -> {
			asked.incrementAndGet();
			throw LockBackendException.of("timed out").retryable(true).build();
		}), "many");
		List<LockHandle> handles = acquireDetached(holder, 5);
		lose(handles.subList(0, 4));
		this.time.advance(LEASE.dividedBy(3));
		assertThat(reasons()).hasSize(4).containsOnly(Reason.TAKEN);
		assertThat(asked).hasValue(1);
		lose(handles.subList(4, 5));
		this.time.advance(LEASE.dividedBy(3));
		assertThat(reasons()).hasSize(5);
		assertThat(asked).as("some seconds later").hasValue(2);
	}

	@Test
	void noRenewalAndNoReleaseWaitsForALook() {
		List<Runnable> looks = new ArrayList<>();
		LockEngine holder = build(LockEngine.builder(this.store).watchdogTimeout(LEASE).listener(this.events::add),
				this.time, workers((worker, task) -> {
					if (worker.equals("background")) {
						looks.add(task);
					}
					else {
						task.run();
					}
				}));
		LockHandle fixed = holder.acquire(request("fixed").leaseTime(Duration.ofHours(1)).detached(true));
		LockHandle renewed = holder.acquire(request("renewed").detached(true));
		assertThat(this.operator.forceRelease("fixed", fixed.owner())).isTrue();
		assertThat(fixed.release()).isFalse();
		assertThat(looks).hasSize(1);
		assertThat(this.operator.forceRelease("renewed", renewed.owner())).isTrue();
		looks.remove(0).run();
		assertThat(reasons()).containsExactly(Reason.FORCED_RELEASE);
		this.time.advance(LEASE.dividedBy(3));
		this.time.advance(Duration.ofMillis(999));
		assertThat(looks).as("one, however often a renewal is denied").hasSize(1);
		assertThat(renewed.isHeld()).isTrue();
		this.time.advance(Duration.ofMillis(1));
		assertThat(renewed.isHeld()).as("the store does not answer the look").isFalse();
		looks.remove(0).run();
		assertThat(reasons()).containsExactly(Reason.FORCED_RELEASE, Reason.TAKEN);
		LockHandle later = holder.acquire(request("later").detached(true));
		assertThat(this.operator.forceRelease("later", later.owner())).isTrue();
		assertThat(later.release()).isFalse();
		assertThat(reasons()).as("no look so soon").hasSize(3).endsWith(Reason.TAKEN);
		assertThat(looks).isEmpty();
	}

	private List<LockHandle> acquireDetached(LockEngine holder, int number) {
		return IntStream.range(0, number).mapToObj((i) -> holder.acquire(request("k" + i).detached(true))).toList();
	}

	private void lose(List<LockHandle> handles) {
		handles.forEach((handle) -> this.store.release(handle.keys().get(0), handle.owner()));
	}

	private LockBackend looking(Function<Supplier<LockStatus>, LockStatus> way) {
		return new ForwardingLockBackend(this.store) {

			@Override
			public LockStatus inspect(String key) {
				return way.apply(() -> super.inspect(key));
			}

		};
	}

	private List<Reason> reasons() {
		return events(LockEvent.Lost.class).stream().map(LockEvent.Lost::reason).toList();
	}

	/** The trace ends with the lease that was lost. */
	@Test
	void nothingIsLeftInTheStore() {
		LockHandle handle = this.engine.acquire("k");
		assertThat(this.operator.forceRelease("k", handle.owner())).isTrue();
		assertThat(this.store.inspect(trace("k", handle.owner())).isFree()).isFalse();
		this.time.advance(LEASE);
		assertThat(this.store.inspect(trace("k", handle.owner())).isFree()).isTrue();
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

	private static String trace(String key, String owner) {
		return "forced-release:" + owner.substring(owner.indexOf('#') + 1) + ":" + Integer.toHexString(key.hashCode());
	}

}
