package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.internal.Binding;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Contract 5: while a request collects several keys, the keys that the request has
 * already are renewed, and a lost key is acquired anew, with all keys that come later in
 * order.
 */
class CollectingTests extends EngineFixture {

	private static final List<String> KEYS = List.of("x", "y", "z");

	private static final LockRequest ALL = LockRequest.of(KEYS).waitTime(Duration.ofMinutes(5)).detached(true);

	/** More than a third of the lease: each key is renewed once. */
	private static final Duration TO_RENEWAL = LEASE.dividedBy(3).plusMillis(10);

	private static final Duration SECOND = Duration.ofSeconds(1);

	private static final Duration MARGIN = LEASE.dividedBy(100);

	private enum Way {

		BLOCKING, ASYNC

	}

	private CompletableFuture<LockHandle> acquiring(Way way, LockRequest request) {
		if (way == Way.BLOCKING) {
			return acquiring(request);
		}
		CompletableFuture<LockHandle> acquiring = this.engine.acquireAsync(request);
		this.time.advance(Duration.ZERO);
		return acquiring;
	}

	static Stream<Arguments> losses() {
		return Stream.of(Way.values())
			.flatMap((way) -> Stream
				.of(ALL, ALL.leaseTime(LEASE), ALL.maxHoldTime(LEASE.multipliedBy(2)), ALL.mode(LockMode.SHARED),
						ALL.fair(true))
				.flatMap((request) -> Stream.of(false, true).map((taken) -> arguments(way, request, taken))));
	}

	/**
	 * Each key is lost before and after each step, and others have the second and the
	 * third for a while.
	 */
	@ParameterizedTest
	@MethodSource("losses")
	void aKeyThatIsLostAtAnyStepIsAcquiredAnew(Way way, LockRequest request, boolean taken) {
		int steps = collect(way, request, taken, "x", Integer.MAX_VALUE);
		assertThat(steps).isGreaterThan(10);
		for (String lost : KEYS) {
			for (int step = 0; step < steps; step++) {
				collect(way, request, taken, lost, step);
			}
		}
	}

	private int collect(Way way, LockRequest request, boolean taken, String lost, int step) {
		String name = lost + " at " + step;
		AtomicInteger moments = new AtomicInteger();
		List<String> outOfOrder = new CopyOnWriteArrayList<>();
		this.backend.forgetSteps();
		this.backend.breaks((action) -> {
			outOfOrder.addAll(heldOutOfOrder());
			loseAt(moments.getAndIncrement() == step, lost, taken);
			Object answer = action.get();
			loseAt(moments.getAndIncrement() == step, lost, taken);
			return answer;
		});
		own("y");
		own("z");
		CompletableFuture<LockHandle> all = acquiring(way, request);
		for (String key : List.of("y", "z")) {
			this.time.advance(TO_RENEWAL);
			releasedElsewhere(key);
			this.time.advance(SECOND);
		}
		for (int i = 0; i < 100 && !all.isDone(); i++) {
			this.time.advance(SECOND);
		}
		assertThat(all).as(name).isDone();
		LockHandle handle = all.join();
		this.backend.works();
		assertThat(handle.isHeld()).as(name).isTrue();
		assertThat(handle.remaining()).as(name).isGreaterThanOrEqualTo(LEASE.dividedBy(2));
		assertThat(outOfOrder).as(name).isEmpty();
		assertThat(events(LockEvent.Lost.class)).as("told of a lock that the user has not had: " + name).isEmpty();
		// A loss that came after the last renewal is one of the user's lock.
		this.time.advance(TO_RENEWAL);
		boolean held = KEYS.stream().allMatch(this::isOurs);
		assertThat(handle.release()).as(name).isEqualTo(held);
		assertThat(events(LockEvent.Lost.class)).as(name).hasSize(held ? 0 : 1);
		this.events.clear();
		this.time.advance(LEASE.multipliedBy(3));
		assertThat(KEYS).as(name).allMatch((key) -> this.store.inspect(key).holders().isEmpty());
		assertThat(hasQueues()).as(name).isFalse();
		return moments.get();
	}

	private void own(String key) {
		ownedElsewhere(key, LEASE.multipliedBy(9));
	}

	/**
	 * Returns the held keys that come after the key that is asked for: two requests with
	 * such keys would wait for each other.
	 */
	private List<String> heldOutOfOrder() {
		String last = this.backend.steps().get(this.backend.steps().size() - 1);
		String key = last.substring(last.indexOf(' ') + 1);
		boolean asks = last.startsWith("acquire ") || last.startsWith("register ");
		return KEYS.stream()
			.filter((other) -> asks && other.compareTo(key) > 0 && isOurs(other))
			.map((other) -> other + " at " + last)
			.toList();
	}

	private boolean isOurs(String key) {
		return owner(key).startsWith("us@");
	}

	/**
	 * Returns the token of the owner of a key, empty if the key has no owner.
	 */
	private String owner(String key) {
		return this.store.inspect(key)
			.holders()
			.stream()
			.filter((holder) -> holder.state() == LockStatus.State.HELD)
			.map(LockStatus.Holder::owner)
			.findFirst()
			.orElse("");
	}

	private void loseAt(boolean now, String key, boolean taken) {
		if (now && isOurs(key)) {
			lose(key);
			if (taken) {
				this.store.acquire(Claim.of(key, "thief#1:1", "thief#1", LEASE.dividedBy(2)));
			}
		}
	}

	private void lose(String key) {
		this.store.leaveToExpire(key, owner(key), Duration.ZERO);
	}

	@ParameterizedTest
	@EnumSource
	void aLossWakesTheRequest(Way way) {
		own("y");
		CompletableFuture<LockHandle> all = acquiring(way, ALL);
		String first = owner("x");
		lose("x");
		this.time.advance(TO_RENEWAL);
		assertThat(owner("x")).as("acquired anew, with a new owner").startsWith("us@").isNotEqualTo(first);
		assertThat(all).isNotDone();
		releasedElsewhere("y");
		this.time.advance(SECOND);
		assertThat(all.join().isHeld()).isTrue();
	}

	@ParameterizedTest
	@EnumSource
	void aKeyAcquiredAnewIsNotDeletedByTheCleanUpOfTheFormerOwner(Way way) {
		own("y");
		CompletableFuture<LockHandle> all = acquiring(way, ALL);
		this.backend.breaks(ScriptedBackend.LOST_REQUEST);
		this.time.advance(LEASE);
		this.backend.works();
		this.time.advance(LEASE);
		assertThat(isOurs("x")).as("acquired anew").isTrue();
		releasedElsewhere("y");
		this.time.advance(SECOND);
		this.time.advance(LEASE.multipliedBy(3));
		assertThat(KEYS).allMatch(this::isOurs);
		assertThat(all.join().isHeld()).isTrue();
	}

	@ParameterizedTest
	@EnumSource
	void aFixedLeaseAndTheLongestHoldCountFromWhenAllKeysAreThere(Way way) {
		own("z");
		CompletableFuture<LockHandle> fixed = acquiring(way, ALL.leaseTime(LEASE));
		this.time.advance(LEASE.multipliedBy(2));
		this.backend.forgetSteps();
		releasedElsewhere("z");
		this.time.advance(Duration.ZERO);
		assertThat(this.backend.steps()).as("one last renewal of all").contains("renew 3");
		assertThat(fixed.join().remaining()).isEqualTo(LEASE.minus(MARGIN));
		this.time.advance(LEASE.minus(MARGIN).minusMillis(1));
		assertThat(fixed.join().isHeld()).isTrue();
		this.time.advance(Duration.ofMillis(1));
		assertThat(events(LockEvent.Lost.class)).hasSize(3)
			.allMatch((lost) -> lost.reason() == LockEvent.Lost.Reason.LEASE_EXPIRED
					&& lost.held().equals(LEASE.minus(MARGIN)));
		this.events.clear();
		this.time.advance(LEASE);
		own("z");
		CompletableFuture<LockHandle> longest = acquiring(way, ALL.maxHoldTime(LEASE.multipliedBy(2)));
		this.time.advance(LEASE.multipliedBy(3));
		releasedElsewhere("z");
		this.time.advance(LEASE.multipliedBy(2).minusSeconds(1));
		assertThat(longest.join().isHeld()).isTrue();
		this.time.advance(SECOND);
		assertThat(events(LockEvent.Lost.class)).hasSize(3)
			.allMatch((lost) -> lost.reason() == LockEvent.Lost.Reason.MAX_HOLD_TIME);
	}

	@Test
	void noLastRenewalForOneKeyOrARenewedLease() {
		this.engine.acquire(LockRequest.of("x").leaseTime(LEASE)).close();
		this.engine.acquire(ALL).close();
		assertThat(this.backend.steps()).noneMatch((step) -> step.startsWith("renew"));
	}

	@Test
	void theLastRenewalIsSentToEachNode() {
		this.engine.acquire(LockRequest.of("node-1:x", "node-1:y", "node-2:z").leaseTime(LEASE)).close();
		assertThat(this.backend.steps()).containsSubsequence("acquire node-2:z", "renew 2", "renew node-2:z");
	}

	@ParameterizedTest
	@EnumSource
	void isNotHandedOutWithLessThanHalfOfItsLeaseLeft(Way way) {
		this.backend.next("acquire", (step) -> step.get());
		this.backend.next("acquire", (step) -> step.get());
		this.backend.before("acquire", () -> this.time.pass(LEASE.dividedBy(2)));
		this.backend.next("renew", ScriptedBackend.LOST_REPLY);
		CompletableFuture<Duration> remaining = (way == Way.ASYNC)
				? this.engine.acquireAsync(ALL).thenApply(LockHandle::remaining)
				: waitingFor(inThread(() -> this.engine.acquire(ALL).remaining()));
		this.time.advance(Duration.ZERO);
		this.time.advance(SECOND);
		assertThat(remaining.join()).as("when it was handed out").isEqualTo(LEASE.minus(MARGIN));
	}

	@ParameterizedTest
	@EnumSource
	void aLastRenewalThatIsNotAnsweredUntilTheDeadlineFailsTheRequest(Way way) {
		own("z");
		CompletableFuture<LockHandle> all = acquiring(way, ALL.leaseTime(LEASE).waitTime(SECOND));
		IntStream.range(0, 20).forEach((i) -> this.backend.next("renew", ScriptedBackend.LOST_REPLY));
		releasedElsewhere("z");
		this.time.advance(SECOND);
		assertFails(all, LockBackendException.class, "could not be acquired in");
		this.time.advance(SECOND);
		assertThat(KEYS).extracting(this::owner).containsOnly("");
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void whoMayNotWaitGetsTheKeysWithOneLastRenewalToo() {
		assertThat(this.engine.tryAcquire(ALL.waitTime(Duration.ZERO).leaseTime(LEASE))).isPresent();
		assertThat(this.backend.steps()).containsExactly("acquire x", "acquire y", "acquire z", "renew 3");
	}

	@ParameterizedTest
	@EnumSource
	void aReenteredKeyThatIsLostFailsTheRequest(Way way) {
		CompletableFuture<LockHandle> outer = new CompletableFuture<>();
		own("z");
		CompletableFuture<LockHandle> all = (way == Way.ASYNC) ? acquiringInChain(outer) : waitingFor(inThread(() -> {
			outer.complete(this.engine.acquire(request("y")));
			return this.engine.acquire(ALL.detached(false));
		}));
		assertThat(isOurs("x")).isTrue();
		lose("y");
		this.time.advance(TO_RENEWAL);
		assertThat(all).failsWithin(PATIENCE)
			.withThrowableThat()
			.havingCause()
			.isInstanceOfSatisfying(LockLostException.class, (lost) -> assertThat(lost.keys()).isEqualTo(KEYS))
			.withMessageContaining("Lock 'y'");
		assertThat(owner("x")).as("given back").isEmpty();
		assertThat(events(LockEvent.Lost.class)).extracting(LockEvent.Lost::key).containsExactly("y");
		releasedElsewhere("z");
		this.time.advance(SECOND);
		assertThat(owner("z")).isEmpty();
		outer.join().close();
		assertThat(hasQueues()).isFalse();
	}

	private CompletableFuture<LockHandle> acquiringInChain(CompletableFuture<LockHandle> outer) {
		outer.complete(this.engine.acquire(LockRequest.of("y").detached(true)));
		CompletableFuture<LockHandle> all = Binding.inChain(List.of(outer.join()), () -> this.engine.acquireAsync(ALL));
		this.time.advance(Duration.ZERO);
		return all;
	}

	private <T> CompletableFuture<T> waitingFor(CompletableFuture<T> acquiring) {
		soon(() -> acquiring.isDone() || this.time.waiting() == 1);
		return acquiring;
	}

	@ParameterizedTest
	@EnumSource
	void aListenerThatThrowsKeepsNothing(Way way) {
		LockEngine engine = build(
				LockEngine.builder(this.backend).application("us").watchdogTimeout(LEASE).listener((event) -> {
					throw new IllegalStateException("test");
				}));
		own("y");
		CompletableFuture<LockHandle> all = (way == Way.ASYNC) ? engine.acquireAsync(ALL)
				: waitingFor(inThread(() -> engine.acquire(ALL)));
		this.time.advance(Duration.ZERO);
		lose("x");
		this.time.advance(TO_RENEWAL);
		releasedElsewhere("y");
		this.time.advance(SECOND);
		LockHandle handle = all.join();
		this.time.advance(LEASE.multipliedBy(3));
		assertThat(handle.isHeld()).as("renewed for longer than the lease").isTrue();
		assertThat(handle.release()).isTrue();
		assertThat(KEYS).extracting(this::owner).containsOnly("");
	}

	@ParameterizedTest
	@EnumSource
	void aStopBetweenTwoLastRenewalsFailsTheRequest(Way way) {
		own("z");
		CompletableFuture<LockHandle> all = acquiring(way, ALL.leaseTime(LEASE));
		this.backend.before("renew", () -> this.engine.stop());
		releasedElsewhere("z");
		this.time.advance(SECOND);
		assertFails(all, LockBackendException.class);
		assertThat(KEYS).extracting(this::owner).containsOnly("");
	}

	/**
	 * The last renewal took too long, and the watchdog renews while the request rests.
	 */
	@ParameterizedTest
	@EnumSource
	void aStopDuringTheRestAfterALastRenewalFailsTheRequest(Way way) {
		ScriptedBackend.Fault slow = (step) -> {
			this.time.pass(LEASE.dividedBy(2).minusMillis(100)); // Leaves less than half,
																	// with the margin.
			return step.get();
		};
		this.backend.next("acquire", Supplier::get);
		this.backend.next("acquire", Supplier::get);
		this.backend.next("acquire", slow);
		this.backend.next("renew", slow);
		CompletableFuture<LockHandle> all = acquiring(way, ALL);
		assertThat(this.backend.steps()).containsExactly("acquire x", "acquire y", "acquire z", "renew 3");
		assertThat(all).isNotDone();
		this.engine.stop();
		this.time.advance(SECOND);
		assertThat(this.backend.steps()).startsWith("acquire x", "acquire y", "acquire z", "renew 3", "renew 3");
		assertThat(all).failsWithin(PATIENCE)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockBackendException.class);
		assertThat(KEYS).extracting(this::owner).containsOnly("");
	}

	@ParameterizedTest
	@EnumSource
	void aCloseLeavesNoKeyToRunOut(Way way) {
		own("y");
		CompletableFuture<LockHandle> all = acquiring(way, ALL);
		this.engine.close();
		this.time.advance(SECOND);
		assertFails(all, LockBackendException.class);
		this.time.advance(SECOND);
		assertThat(owner("x")).isEmpty();
		assertThat(events(LockEvent.Lost.class)).isEmpty();
	}

	@Test
	void aStopFailsTheRequestThatGoesOn() {
		own("y");
		CompletableFuture<LockHandle> all = acquiring(ALL);
		lose("x");
		this.engine.stop();
		this.time.advance(TO_RENEWAL);
		assertFails(all, LockBackendException.class);
		assertThat(owner("x")).isEmpty();
	}

}
