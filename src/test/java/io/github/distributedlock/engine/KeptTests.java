package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.LockStatus.State;
import io.github.distributedlock.ReleaseOn;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.ForwardingLockBackend;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.SmallestBackend;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.test.util.ReflectionTestUtils;

import static io.github.distributedlock.fixtures.Patience.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/**
 * A key stays with the JVM that uses it, and goes when another JVM asks for the key, or
 * when nobody uses the key.
 */
@ExtendWith(OutputCaptureExtension.class)
class KeptTests extends EngineFixture {

	private static final Duration KEEP = Duration.ofMillis(100);

	private static final Duration LONG = Duration.ofSeconds(20);

	private static final Duration SHORT_LEASE = Duration.ofSeconds(3);

	@BeforeEach
	void recalls() {
		this.backend.granting();
	}

	private static LockRequest kept(String key) {
		return LockRequest.of(key).keepTime(KEEP);
	}

	private String keep(String key) {
		LockHandle handle = this.engine.acquire(kept(key));
		handle.close();
		this.backend.forgetSteps();
		return handle.owner();
	}

	private void recall(String owner) {
		this.backend.listener().onRecall("k", owner);
	}

	@Test
	void isTakenAgainWithoutACommand() {
		String owner = keep("k");
		for (int i = 0; i < 1_000; i++) {
			LockHandle again = this.engine.acquire(kept("k"));
			assertThat(again.isHeld()).isTrue();
			assertThat(again.owner()).isEqualTo(owner);
			again.close();
			assertThat(again.isHeld()).isFalse();
		}
		assertThat(this.engine.tryAcquire(kept("k"))).as("need not wait").isPresent();
		assertThat(this.backend.steps()).isEmpty();
		assertThat(Claim.isRecallable(owner)).isTrue();
	}

	@Test
	void isReleasedWhenNobodyHasUsedIt() {
		String owner = keep("k");
		this.time.advance(KEEP.minusMillis(1));
		assertThat(holderOf("k")).isEqualTo(Holder.owner(owner));
		this.time.advance(Duration.ofMillis(1));
		assertThat(this.backend.steps()).containsExactly("release k");
		assertThat(holderOf("k")).isNull();
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void staysForTheTimeSinceTheLastUse() {
		String owner = keep("k");
		this.time.advance(KEEP.dividedBy(2));
		this.engine.acquire(kept("k")).close();
		this.time.advance(KEEP.minusMillis(1));
		assertThat(holderOf("k")).isEqualTo(Holder.owner(owner));
		this.time.advance(Duration.ofMillis(1));
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void goesWithTheFirstReleaseAfterTheKeepTime() {
		keep("k");
		this.time.advance(KEEP.minusMillis(1));
		LockHandle again = this.engine.acquire(kept("k"));
		this.time.advance(KEEP);
		assertThat(again.isHeld()).isTrue();
		assertThat(this.backend.steps()).isEmpty();
		again.close();
		assertThat(this.backend.steps()).containsExactly("release k");
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void goesAfterAMillisecondIfAnotherJvmAsks() {
		String owner = keep("k");
		this.time.advance(KEEP.dividedBy(2));
		this.engine.acquire(kept("k")).close();
		recall("us@elsewhere/1#1:1-1~");
		recall(owner);
		this.time.advance(Duration.ofNanos(999_999));
		assertThat(holderOf("k")).isEqualTo(Holder.owner(owner));
		this.time.advance(Duration.ofNanos(1));
		assertThat(holderOf("k")).isNull();
		assertThat(this.backend.steps()).containsExactly("release k");
	}

	@Test
	void goesAtOnceIfItWasUnusedForLonger() {
		String owner = keep("k");
		this.time.advance(Duration.ofMillis(2));
		recall(owner);
		act();
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void isNotTakenFromOneWhoUsesIt() {
		String owner = keep("k");
		LockHandle again = this.engine.acquire(kept("k"));
		recall(owner);
		this.time.advance(Duration.ofMillis(10));
		assertThat(again.isHeld()).isTrue();
		again.close();
		assertThat(holderOf("k")).as("was used just now").isEqualTo(Holder.owner(owner));
		this.time.advance(Duration.ofMillis(1));
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void goesSoonAfterTheFirstReleaseIfAnotherJvmAskedMeanwhile() {
		LockHandle first = this.engine.acquire(kept("k"));
		recall(first.owner());
		first.close();
		assertThat(holderOf("k")).isEqualTo(Holder.owner(first.owner()));
		this.time.advance(Duration.ofMillis(1));
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void recallOfAFormerOwnerHasNoEffect() {
		String former = keep("k");
		this.time.advance(KEEP);
		String owner = keep("k");
		recall(former);
		this.time.advance(Duration.ofMillis(2));
		assertThat(holderOf("k")).isEqualTo(Holder.owner(owner));
	}

	@Test
	void isGrantedToAnotherJvmThatWaits() {
		LockEngine other = engine(this.store, "other");
		String owner = keep("k");
		CompletableFuture<LockHandle> theirs = inThread(() -> other.acquire(waiting("k", LONG)));
		untilWaiting(1);
		recall(owner);
		this.time.advance(Duration.ofMillis(1));
		assertThat(theirs).succeedsWithin(PATIENCE);
	}

	@Test
	void goesSoonAfterTheReleaseIfTheAcquisitionHadToWait() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> waiting = acquiring(kept("k").waitTime(LONG));
		releasedElsewhere("k");
		succeeded(waiting).close();
		assertThat(holderOf("k")).isEqualTo(Holder.owner(waiting.join().owner()));
		this.time.advance(Duration.ofMillis(1));
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void goesToLocalRequestsInTurn() {
		String owner = keep("k");
		LockHandle first = this.engine.acquire(kept("k"));
		CompletableFuture<LockHandle> second = acquiring(kept("k").waitTime(LONG));
		CompletableFuture<LockHandle> third = acquiring(kept("k").waitTime(LONG));
		first.close();
		assertThat(second).succeedsWithin(PATIENCE);
		assertThat(third).isNotDone();
		second.join().close();
		succeeded(third).close();
		assertThat(third.join().owner()).isEqualTo(owner);
		assertThat(this.backend.steps()).isEmpty();
		this.time.advance(KEEP);
		assertThat(holderOf("k")).isNull();
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void isTakenByARequestThatNoThreadWaitsFor() {
		String owner = keep("k");
		for (int i = 0; i < 3; i++) {
			CompletableFuture<LockHandle> async = this.engine.acquireAsync(kept("k"));
			act();
			assertThat(async).isCompleted();
			assertThat(async.join().owner()).isEqualTo(owner);
			async.join().closeAsync();
			act();
		}
		assertThat(this.backend.steps()).isEmpty();
		this.time.advance(KEEP);
		assertThat(holderOf("k")).isNull();
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void staysOnceHoweverOftenItIsTakenOver() {
		LockRequest request = LockRequest.of("k").keepTime(Duration.ofMinutes(1));
		for (int i = 0; i < 5; i++) {
			CompletableFuture<LockHandle> async = this.engine.acquireAsync(request);
			act();
			async.join().closeAsync();
			act();
		}
		LockHandle handle = this.engine.acquire(request);
		CompletableFuture<LockHandle> second = acquiring(request.waitTime(LONG));
		handle.close();
		Patience.get(second, "the second").close();
		assertThat(this.engine.keysKept()).isOne();
		assertThat(this.engine.keysHeld()).isZero();
	}

	@Test
	void isReleasedForARequestThatNeedsAnOwnerOfItsOwn() {
		for (LockRequest request : List.of(request("k").fenced(true), LockRequest.of("k", "l"))) {
			String owner = keep("k");
			LockHandle handle = this.engine.tryAcquire(request).orElseThrow();
			assertThat(handle.owner()).isNotEqualTo(owner);
			handle.close();
		}
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void isNotTakenAnyMoreOnceSuchARequestHasEntered() {
		AtomicReference<LockEngine> engine = new AtomicReference<>();
		LockEngine ours = build(LockEngine.builder(this.backend).watchdogTimeout(LEASE), before(() -> {
			LockEngine taking = isInside("LocalQueue", "enter") ? engine.getAndSet(null) : null;
			if (taking != null) {
				elsewhere(() -> taking.tryAcquire(kept("k").detached(true)));
			}
		}), this.time);
		ours.acquire(kept("k")).close();
		engine.set(ours);
		CompletableFuture<Optional<LockHandle>> fenced = inThread(
				() -> ours.tryAcquire(request("k").fenced(true).detached(true)));
		assertThat(fenced).succeedsWithin(PATIENCE).extracting(Optional::isPresent).isEqualTo(true);
		fenced.join().orElseThrow().close();
		ours.close();
	}

	@Test
	void isReleasedForSuchARequestIfNoThreadCanBeHadForThat() {
		keep("k");
		this.time.lackAThread("worker");
		assertThat(this.engine.tryAcquire(request("k").fenced(true))).as("not released yet").isEmpty();
		act();
		this.engine.tryAcquire(request("k").fenced(true)).orElseThrow().close();
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void requestLeavesTheQueueIfTheKeptKeyCannotBeReleased() {
		keep("k");
		this.time.lackAThread("worker");
		this.time.lackAThread("timer");
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.engine.tryAcquire(request("k").fenced(true)))
			.withMessageContaining("no more threads");
		this.time.advance(SHORT_LEASE);
		this.engine.tryAcquire(request("k").fenced(true)).orElseThrow().close();
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void staysIfAnErrorKeepsSuchARequestOut() {
		String owner = keep("k");
		LocalQueue queue = (LocalQueue) Objects.requireNonNull(ReflectionTestUtils.getField(this.engine, "queue"));
		LocalKey local = Objects.requireNonNull(queue.find(new QueueKey("k", Waiter.exclusive(instance()))));
		ReflectionTestUtils.setField(local, "waiting", new ArrayDeque<Object>() {

			@Override
			public boolean add(Object entry) {
				throw new StackOverflowError("test");
			}

		});
		assertThatExceptionOfType(StackOverflowError.class)
			.isThrownBy(() -> this.engine.tryAcquire(request("k").fenced(true)));
		LockHandle again = this.engine.acquire(kept("k"));
		assertThat(again.owner()).isEqualTo(owner);
		again.close();
		this.time.advance(KEEP);
		assertThat(holderOf("k")).isNull();
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void staysAfterTheBorrowersReleaseIfTheHeirGivesUp() {
		LockHandle use = borrowBehindOneThatGivesUp();
		use.close();
		assertThat(this.engine.keysKept()).isOne();
		assertThat(this.backend.steps()).isEmpty();
		recall(use.owner());
		this.time.advance(Duration.ofMillis(1));
		assertThat(holderOf("k")).isNull();
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void goesFromTheBorrowerToTheNextRequestIfTheHeirGivesUp() {
		LockHandle use = borrowBehindOneThatGivesUp();
		assertThat(inThread(() -> this.engine.tryAcquire(kept("k")))).succeedsWithin(PATIENCE)
			.extracting(Optional::isPresent)
			.isEqualTo(false);
		CompletableFuture<LockHandle> next = acquiring(kept("k").waitTime(LONG));
		use.close();
		assertThat(get(next, "next").owner()).isEqualTo(use.owner());
		next.join().close();
		assertThat(this.backend.steps()).isEmpty();
		this.time.advance(KEEP);
		assertThat(holderOf("k")).isNull();
		assertThat(hasQueues()).isFalse();
	}

	/**
	 * A request that has not woken up yet takes a kept key over, another one borrows the
	 * key, and the first one gives up.
	 */
	private LockHandle borrowBehindOneThatGivesUp() {
		keep("k");
		CompletableFuture<LockHandle> another = this.engine
			.acquireAsync(LockRequest.of("k").leaseTime(Duration.ofSeconds(7)));
		LockHandle use = this.engine.acquire(kept("k").detached(true));
		another.cancel(true);
		return use;
	}

	@Test
	void isTakenByARequestThatDoesNotKeep() {
		keep("k");
		this.engine.acquire(request("k")).close();
		assertThat(this.backend.steps()).isEmpty();
	}

	@Test
	void isPassedOnForAnotherLease() {
		keep("k");
		LockHandle handle = this.engine.acquire(request("k").leaseTime(Duration.ofSeconds(7)));
		assertThat(handle.remaining()).isGreaterThan(Duration.ofSeconds(6));
		assertThat(this.backend.steps()).containsExactly("pass k");
		handle.close();
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void isReleasedByAStopAndNoneStaysAfterIt() {
		keep("k");
		LockHandle inside = this.engine.acquire(kept("inside").detached(true));
		this.engine.stop();
		assertThat(holderOf("k")).isNull();
		inside.close();
		assertThat(holderOf("inside")).isNull();
		this.engine.start();
		String owner = keep("k");
		assertThat(holderOf("k")).isEqualTo(Holder.owner(owner));
		this.engine.close();
		assertThat(holderOf("k")).isNull();
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void isReleasedByWhoUsesItWhenTheEngineStops() {
		keep("k");
		LockHandle again = this.engine.acquire(kept("k"));
		this.engine.stop();
		assertThat(again.isHeld()).isTrue();
		again.close();
		assertThat(holderOf("k")).isNull();
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void isReleasedByWhoReturnsItWhileTheEngineStops() {
		AtomicReference<LockEngine> stopped = new AtomicReference<>();
		LockEngine ours = build(LockEngine.builder(this.backend).watchdogTimeout(LEASE), before(() -> {
			if (stopped.get() != null && isInside("KeptKeys", "mayKeep")) {
				stopped.getAndSet(null).stop();
			}
		}), this.time);
		ours.acquire(kept("k")).close();
		LockHandle again = ours.acquire(kept("k"));
		stopped.set(ours);
		again.close();
		act();
		assertThat(stopped).hasNullValue();
		assertThat(holderOf("k")).isNull();
		ours.close();
	}

	@Test
	void staysAgainIfTheEngineIsStartedDuringAStop() {
		AtomicReference<LockEngine> stopping = new AtomicReference<>();
		LockEngine ours = new LockEngine(LockEngine.builder(this.backend).watchdogTimeout(LEASE), this.time,
				workers((worker, task) -> {
					LockEngine starting = stopping.getAndSet(null);
					if (starting != null) {
						starting.start();
					}
					task.run();
				}), () -> {
				});
		stopping.set(ours);
		ours.stop();
		assertThat(ours.isRunning()).isTrue();
		ours.acquire(kept("k")).close();
		assertThat(ours.keysKept()).isOne();
		ours.close();
	}

	/**
	 * The subscription of the first identity has ended, so that nobody here hears of
	 * requests elsewhere.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void doesNotStayUnderAFormerIdentity(boolean stayedBefore) {
		LockEngine ours = engine(this.store, "ours");
		LockEngine other = engine(this.store, "other");
		LockRequest request = LockRequest.of("k").keepTime(Duration.ofMinutes(1)).detached(true);
		if (stayedBefore) {
			ours.acquire(request).close();
		}
		LockHandle use = ours.acquire(request);
		for (int i = 0; i < 2; i++) {
			ours.stop();
			ours.start();
		}
		use.close();
		CompletableFuture<Optional<LockHandle>> theirs = inThread(() -> other.tryAcquire("k"));
		advanceUntil(Duration.ofMillis(1), theirs::isDone);
		assertThat(theirs.join()).as("nobody uses it").isPresent();
		assertThat(ours.hasQueues()).isFalse();
	}

	@Test
	void isNotTakenWhenItsLeaseIsOver() {
		this.time.holdBackRenewals();
		LockHandle handle = this.engine.acquire(LockRequest.of("k").keepTime(Duration.ofMinutes(1)));
		handle.close();
		this.time.pass(SHORT_LEASE);
		ownedElsewhere("k", LEASE);
		assertThat(this.engine.tryAcquire(kept("k"))).as("lost meanwhile").isEmpty();
		assertThat(events(LockEvent.Lost.class)).as("nobody held it").isEmpty();
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void isForgottenWhenTheStoreSaysThatItIsGone() {
		LockHandle handle = this.engine.acquire(LockRequest.of("k").keepTime(Duration.ofMinutes(1)));
		handle.close();
		this.time.advance(Duration.ofSeconds(2)); // Renewed.
		this.store.release("k", handle.owner());
		this.time.advance(Duration.ofSeconds(2));
		LockHandle again = this.engine.acquire(kept("k"));
		assertThat(again.owner()).isNotEqualTo(handle.owner());
		assertThat(events(LockEvent.Lost.class)).as("nobody held it").isEmpty();
		again.close();
	}

	/**
	 * A stay ends in two steps. Between them, another request takes the lost key over,
	 * and lets the key stay anew.
	 */
	@Test
	void stayThatEndsLateEndsNoOther() {
		LockRequest request = LockRequest.of("k").keepTime(Duration.ofMinutes(1));
		LockHandle lost = this.engine.acquire(request);
		lost.close();
		this.store.release("k", lost.owner());
		this.time.advance(SHORT_LEASE.dividedBy(2)); // The store denies a renewal.
		AtomicReference<String> owner = new AtomicReference<>();
		beforeAStayIsForgotten(() -> elsewhere(() -> owner.set(keep("k"))));
		recall(lost.owner());
		act();
		assertThat(holderOf("k")).isEqualTo(Holder.owner(owner.get()));
		assertThat(this.engine.keysKept()).isOne();
		this.time.advance(KEEP);
		assertThat(holderOf("k")).isNull();
		assertThat(hasQueues()).isFalse();
	}

	/**
	 * Runs an action once, when a stay ends without a recall.
	 */
	private void beforeAStayIsForgotten(Runnable action) {
		AtomicReference<Runnable> next = new AtomicReference<>(action);
		Object kept = Objects.requireNonNull(ReflectionTestUtils.getField(this.engine, "kept"));
		Set<?> stays = (Set<?>) Objects.requireNonNull(ReflectionTestUtils.getField(kept, "stays"));
		Map<Object, Boolean> map = new ConcurrentHashMap<>() {

			@Override
			public Boolean remove(Object stay) {
				act();
				return super.remove(stay);
			}

			private void act() {
				if (isInside("KeptKeys$Stay", "end")) {
					next.getAndSet(() -> {
					}).run();
				}
			}

		};
		Set<Object> watched = Collections.newSetFromMap(map);
		watched.addAll(stays);
		ReflectionTestUtils.setField(kept, "stays", watched);
	}

	@Test
	void hasAShortLeaseThatGrowsWithItsUse() {
		List<Duration> leases = new ArrayList<>();
		this.backend.onRenew((renewal) -> leases.add(renewal.lease()));
		LockHandle handle = this.engine.acquire(LockRequest.of("k").keepTime(Duration.ofMinutes(1)));
		assertThat(handle.remaining()).isBetween(SHORT_LEASE.minusMillis(100), SHORT_LEASE);
		handle.close();
		this.time.advance(Duration.ofSeconds(5));
		assertThat(leases).hasSizeBetween(4, 6).containsOnly(SHORT_LEASE);
		LockHandle again = this.engine.acquire(kept("k"));
		leases.clear();
		this.time.advance(Duration.ofSeconds(3));
		assertThat(leases).last().isEqualTo(LEASE);
		assertThat(again.remaining()).isGreaterThan(SHORT_LEASE);
		again.close();
		assertThat(holderOf("k")).as("does not stay for so long").isNull();
	}

	@Test
	void isNotCountedAsHeld() {
		keep("k");
		assertThat(this.engine.keysHeld()).isZero();
		assertThat(this.engine.snapshot().holds()).isEmpty();
		assertThat(this.engine.snapshot().queues()).isEmpty();
		try (LockHandle again = this.engine.acquire(kept("k"))) {
			assertThat(this.engine.keysHeld()).isOne();
			assertThat(this.engine.snapshot().holds()).hasSize(1);
		}
		assertThat(events(LockEvent.Acquired.class)).hasSize(2);
		assertThat(events(LockEvent.Released.class)).hasSize(2);
		assertThat(this.engine.keysHeld()).isZero();
	}

	@Test
	void staysOnlyForSoManyKeys() {
		for (int i = 0; i <= KeptKeys.MOST; i++) {
			this.engine.acquire(kept("k" + i)).close();
			this.time.pass(Duration.ofNanos(1));
		}
		assertThat(holderOf("k0")).as("the one used the longest ago").isNull();
		assertThat(holderOf("k1")).isNotNull();
		assertThat(this.backend.steps()).filteredOn("release k0"::equals).hasSize(1);
		this.time.advance(KEEP);
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void staysOnlyForSoManyKeysHoweverManyThreadsLeaveThem() {
		LockRequest request = LockRequest.of("k").keepTime(Duration.ofMinutes(1));
		try (LockEngine ours = LockEngine.builder(new InMemoryLockBackend()).build()) {
			List<CompletableFuture<Boolean>> all = IntStream.range(0, 8).mapToObj((thread) -> inThread(() -> {
				for (int i = 0; i < KeptKeys.MOST; i++) {
					ours.acquire(request.keys(List.of(thread + "-" + i))).close();
				}
				return true;
			})).toList();
			all.forEach((each) -> get(each, "a thread"));
			assertThat(ours.keysKept()).isBetween(KeptKeys.MOST / 2, KeptKeys.MOST);
		}
	}

	@Test
	void isReleasedAgainWhenTheStoreHasFailed() {
		keep("k");
		this.backend.next("release", ScriptedBackend.LOST_REQUEST);
		this.time.advance(KEEP.plusSeconds(1));
		assertThat(holderOf("k")).isNull();
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void allAreReleasedIfTheStoreRefusesToRenewOne() {
		LockRequest request = LockRequest.of("k").keepTime(Duration.ofMinutes(1));
		this.engine.acquire(request).close();
		this.engine.acquire(request.keys(List.of("l"))).close();
		this.backend.next("renew", ScriptedBackend.NOT_NOW);
		this.time.advance(SHORT_LEASE.dividedBy(3));
		assertThat(holderOf("k")).isNull();
		assertThat(holderOf("l")).isNull();
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void isReleasedIfThereIsNoAlarm() {
		LockHandle handle = this.engine.acquire(kept("k"));
		this.time.lackAThread("timer");
		handle.close();
		assertThat(holderOf("k")).isNull();
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void releaseOfEachDoesNotDelayTheCloseOfAHandleWhileTheStoreIsDown() {
		Queue<Runnable> threads = new ConcurrentLinkedQueue<>();
		LockEngine ours = build(LockEngine.builder(this.backend).watchdogTimeout(LEASE), this.time,
				workers((worker, task) -> {
					if (worker.equals("background")) {
						threads.add(task);
					}
					else {
						task.run();
					}
				}));
		LockHandle held = ours.acquire(request("held").detached(true));
		for (int i = 0; i < 100; i++) {
			ours.acquire(kept("k" + i)).close();
		}
		this.backend.breaks(ScriptedBackend.LOST_REQUEST);
		this.backend.forgetSteps();
		ours.stop();
		CompletableFuture<Void> closed = held.closeAsync();
		while (!closed.isDone()) {
			threads.remove().run();
		}
		assertThat(this.backend.steps()).contains("release held").hasSizeLessThan(10);
	}

	@Test
	void isReleasedIfItsLeaseIsOverOnlyByTheWallClock() {
		LockRequest request = LockRequest.of("k").keepTime(Duration.ofMinutes(1));
		this.engine.acquire(request).close();
		this.time.suspend(SHORT_LEASE);
		this.engine.tryAcquire(request).ifPresent(LockHandle::close);
		act();
		assertThat(holderOf("k")).isNull();
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void failureToReleaseOneIsNoneOfAnother() {
		AtomicBoolean fails = new AtomicBoolean();
		LockEngine ours = engineThatCannotSweep(fails);
		for (int i = 0; i < KeptKeys.MOST; i++) {
			ours.acquire(kept("k" + i)).close();
		}
		this.time.pass(Duration.ofNanos(1));
		fails.set(true);
		this.time.lackAThread("worker");
		ours.acquire(kept("last")).close();
		assertThat(holderOf("last")).isNotNull();
		fails.set(false);
		this.time.lackAThread("worker");
		ours.close();
	}

	@Test
	void failureToReleaseOneAtAStopKeepsNoOther() {
		AtomicBoolean fails = new AtomicBoolean();
		LockEngine ours = engineThatCannotSweep(fails);
		List<String> keys = List.of("k", "l", "m");
		keys.forEach((key) -> ours.acquire(kept(key)).close());
		fails.set(true);
		this.time.lackAThread("worker");
		ours.stop();
		assertThat(keys).filteredOn((key) -> holderOf(key) != null).as("for which there was no thread").hasSize(1);
		assertThat(ours.hasQueues()).isFalse();
	}

	/**
	 * Returns an engine whose sweeper gets no alarm, if the test says so.
	 */
	private LockEngine engineThatCannotSweep(AtomicBoolean fails) {
		return build(LockEngine.builder(this.backend).watchdogTimeout(LEASE), before(() -> {
			if (fails.get() && isInside("Sweeper", "start")) {
				throw new InternalError("no alarm (test)");
			}
		}), this.time);
	}

	@Test
	void recallIsWaitedForByARequestThatMayNotWait() {
		LockEngine other = engine(this.store, "other");
		other.acquire(kept("k")).close();
		CompletableFuture<Optional<LockHandle>> ours = inThread(() -> this.engine.tryAcquire(request("k")));
		untilWaiting(1);
		this.time.advance(Duration.ofMillis(1));
		assertThat(succeeded(ours)).as("nobody worked under it").isPresent();
		assertThat(this.backend.steps()).startsWith("acquire k", "register k");
	}

	@Test
	void recallIsNotWaitedForLongerThanThat() {
		LockEngine other = engine(this.store, "other");
		LockHandle theirs = other.acquire(kept("k").detached(true));
		CompletableFuture<Optional<LockHandle>> ours = inThread(() -> this.engine.tryAcquire(request("k")));
		untilWaiting(1);
		this.time.advance(Duration.ofMillis(99));
		assertThat(ours).isNotDone();
		this.time.advance(Duration.ofMillis(1));
		assertThat(succeeded(ours)).isEmpty();
		assertThat(theirs.isHeld()).isTrue();
		theirs.close();
	}

	@Test
	void busyKeyThatDoesNotStayIsNotWaitedFor() {
		ownedElsewhere("k", LEASE);
		assertThat(this.engine.tryAcquire(kept("k"))).isEmpty();
		assertThat(this.backend.steps()).containsExactly("acquire k");
	}

	@Test
	void twoJvmsTakeTurns() {
		LockEngine other = engine(this.store, "other");
		String owner = keep("k");
		CompletableFuture<LockHandle> theirs = inThread(() -> other.acquire(kept("k").waitTime(LONG)));
		untilWaiting(1);
		for (int i = 0; i < 10; i++) {
			LockHandle ours = this.engine.acquire(kept("k"));
			assertThat(ours.owner()).isEqualTo(owner);
			this.time.advance(KEEP.dividedBy(10));
			ours.close();
		}
		assertThat(theirs).as("the first release after the keep time").succeedsWithin(PATIENCE);
	}

	@Test
	void isReleasedOnceIfARequestComesDuringTheRelease() {
		LockHandle last = useAfterKeepTime(kept("k"));
		CompletableFuture<LockHandle> next = requestDuring("release");
		assertThat(last.release()).isTrue();
		get(next, "next").close();
		assertThat(this.backend.steps()).filteredOn((step) -> step.startsWith("release")).hasSize(1);
		assertThat(this.events).noneMatch(LockEvent.Lost.class::isInstance);
	}

	@Test
	void isBusyForItsMinHoldTimeIfARequestComesDuringTheRelease() {
		LockHandle last = useAfterKeepTime(request("k").minHoldTime(Duration.ofSeconds(5)));
		CompletableFuture<LockHandle> next = requestDuring("expire");
		assertThat(last.release()).isTrue();
		assertThat(next).isNotDone();
		this.time.advance(Duration.ofSeconds(5));
		get(next, "next").close();
	}

	/**
	 * Returns a use of a kept key that has lasted until the key is to go.
	 */
	private LockHandle useAfterKeepTime(LockRequest request) {
		keep("k");
		LockHandle use = this.engine.acquire(request.detached(true));
		this.time.advance(KEEP.multipliedBy(2));
		this.backend.forgetSteps();
		return use;
	}

	private CompletableFuture<LockHandle> requestDuring(String step) {
		CompletableFuture<LockHandle> next = new CompletableFuture<>();
		this.backend.next(step, (release) -> {
			acquiring(kept("k").waitTime(LONG).detached(true)).thenAccept(next::complete);
			return release.get();
		});
		return next;
	}

	@Test
	void alarmThatRingsDuringTheReleaseSetsNoOther() {
		keep("k");
		this.time.advance(KEEP.multipliedBy(2).dividedBy(3));
		this.engine.acquire(kept("k")).close();
		this.time.advance(KEEP.dividedBy(2)); // Has moved the alarm.
		LockHandle use = this.engine.acquire(kept("k"));
		AtomicBoolean rung = new AtomicBoolean();
		this.backend.before("release", () -> {
			this.time.advance(KEEP.multipliedBy(2)); // Would never end if each alarm set
														// another.
			rung.set(true);
		});
		use.close();
		assertThat(rung).isTrue();
	}

	@Test
	void staysAgainAtOnceIfRequestsWithoutAThreadHaveUsedIt() {
		for (int i = 0; i < 3; i++) {
			String owner = keep("k");
			CompletableFuture<LockHandle> use = this.engine.acquireAsync(kept("k"));
			act();
			use.join().closeAsync();
			act();
			recall(owner);
			this.time.advance(Duration.ofMillis(1));
			assertThat(holderOf("k")).isNull();
		}
		keep("k");
		assertThat(holderOf("k")).isNotNull();
	}

	@Test
	void pausesLongerAfterEachStayInVain() {
		List<Integer> pauses = new ArrayList<>();
		for (int i = 0; i < 9; i++) {
			pauses.add(pauseAfterStayInVain());
		}
		assertThat(pauses).containsExactly(1, 2, 4, 8, 16, 32, 64, 64, 64);
	}

	@Test
	void pausesBrieflyAgainAfterAStayInUse() {
		for (int i = 0; i < 4; i++) {
			pauseAfterStayInVain();
		}
		this.engine.acquire(kept("k")).close();
		assertThat(pauseAfterStayInVain()).as("in use before the recall").isZero();
		assertThat(pauseAfterStayInVain()).isOne();
	}

	/**
	 * Recalls the key while nobody uses the key, and returns how many times the key does
	 * not stay afterwards.
	 */
	private int pauseAfterStayInVain() {
		Holder holder = holderOf("k");
		recall((holder != null) ? holder.name() : keep("k"));
		this.time.advance(Duration.ofMillis(1));
		assertThat(holderOf("k")).isNull();
		int pause = 0;
		do {
			keep("k");
			pause++;
		}
		while (holderOf("k") == null);
		return pause - 1;
	}

	@Test
	void hasNotStayedInVainIfItWasUsed() {
		String owner = keep("k");
		this.engine.acquire(kept("k")).close();
		recall(owner);
		this.engine.tryAcquire(request("k").fenced(true)).orElseThrow().close();
		keep("k");
		assertThat(holderOf("k")).isNotNull();
	}

	@Test
	void inspectSaysThatItIsKept() {
		keep("k");
		LockStatus status = this.engine.inspect("k");
		assertThat(status.holders()).singleElement().extracting(LockStatus.Holder::state).isEqualTo(State.KEPT);
		assertThat(status.heldHere()).isFalse();
		assertThat(this.engine.keysKept()).isOne();
		assertThat(this.engine.keysTakenAgain()).isZero();
		LockHandle again = this.engine.acquire(kept("k"));
		assertThat(this.engine.inspect("k").heldHere()).isTrue();
		assertThat(this.engine.keysKept()).isZero();
		assertThat(this.engine.keysTakenAgain()).isOne();
		again.close();
	}

	static List<LockRequest> besideExclusiveOnes() {
		return List.of(LockRequest.of("k").mode(LockMode.SHARED), LockRequest.of("k").fair(true),
				LockRequest.of("k").permits(2));
	}

	@ParameterizedTest
	@MethodSource("besideExclusiveOnes")
	void isGivenBackToALocalRequestThatMayNotHaveIt(LockRequest request) {
		keep("k");
		CompletableFuture<Optional<LockHandle>> ours = inThread(() -> this.engine.tryAcquire(request));
		untilWaiting(1);
		this.time.advance(Duration.ofMillis(1));
		assertThat(succeeded(ours)).as("nobody worked under it").isPresent();
	}

	@ParameterizedTest
	@MethodSource("besideExclusiveOnes")
	void isGivenBackAfterItsUseToALocalRequestThatWaits(LockRequest request) {
		LockRequest asked = LockRequest.of("k").keepTime(Duration.ofMinutes(1));
		this.engine.acquire(asked).close();
		LockHandle again = this.engine.acquire(asked);
		CompletableFuture<Optional<LockHandle>> inUse = inThread(() -> this.engine.tryAcquire(request));
		assertThat(inUse).as("which need not wait for that").succeedsWithin(PATIENCE);
		assertThat(inUse.join()).isEmpty();
		CompletableFuture<LockHandle> ours = acquiring(request.waitTime(LONG));
		again.close();
		this.time.advance(Duration.ofMillis(1));
		assertThat(ours).succeedsWithin(PATIENCE);
	}

	@Test
	void recallsOfSeveralKeysAreWaitedForOnce() {
		LockEngine other = engine(this.store, "other");
		LockHandle first = other.acquire(kept("k").detached(true));
		LockHandle second = other.acquire(kept("l").detached(true));
		CompletableFuture<Optional<LockHandle>> ours = inThread(() -> this.engine.tryAcquire(LockRequest.of("k", "l")));
		untilWaiting(1);
		this.time.advance(Duration.ofMillis(60));
		first.close();
		this.time.advance(Duration.ofMillis(1));
		await().until(() -> this.backend.steps().contains("register l") && this.time.waiting() == 1);
		this.time.advance(Duration.ofMillis(39));
		assertThat(succeeded(ours)).isEmpty();
		second.close();
	}

	@Test
	void lossAfterTheLastUseIsNoneOfThatUse(CapturedOutput output) {
		String owner = keep("k");
		this.store.release("k", owner);
		this.time.advance(KEEP);
		LockRequest request = LockRequest.of("l").keepTime(Duration.ofMinutes(1));
		LockHandle handle = this.engine.acquire(request);
		handle.close();
		this.store.release("l", handle.owner());
		this.time.advance(SHORT_LEASE);
		this.engine.acquire(request).close();
		this.time.holdBackRenewals();
		this.time.pass(SHORT_LEASE);
		this.engine.acquire(request).close();
		assertThat(events(LockEvent.Lost.class)).isEmpty();
		assertThat(this.engine.snapshot().losses()).isEmpty();
		// Threads of an earlier test may still write about its locks.
		assertThat(output).doesNotContain("of " + owner.substring(0, owner.lastIndexOf(':')));
	}

	static Stream<UnaryOperator<LockBackend>> storesThatDoNotRecall() {
		return Stream.of(SmallestBackend::new, (backend) -> new ForwardingLockBackend(backend) {

			@Override
			public boolean grantsTo(String instance) {
				return false;
			}

		});
	}

	/**
	 * A request that asks there gets the whole lease, and costs others no time.
	 */
	@ParameterizedTest
	@MethodSource("storesThatDoNotRecall")
	void nothingStaysWhereTheStoreDoesNotRecall(UnaryOperator<LockBackend> store, CapturedOutput output) {
		notKept(build(LockEngine.builder(store.apply(this.backend)).watchdogTimeout(LEASE).keepTime(KEEP)));
		assertThat(output).containsOnlyOnce("No key stays with this JVM for its keepTime");
	}

	@Test
	void nothingStaysWhereNothingIsHandedOver() {
		notKept(build(
				LockEngine.builder(this.backend).watchdogTimeout(LEASE).keepTime(KEEP).localSlice(Duration.ZERO)));
	}

	@Test
	void nothingStaysWhileTheStoreDoesNotNotify(CapturedOutput output) {
		this.backend.deaf(true);
		notKept(this.engine);
		this.backend.deaf(false);
		keep("k");
		assertThat(this.engine.keysKept()).isOne();
		assertThat(output).doesNotContain("No key stays with this JVM");
	}

	private void notKept(LockEngine engine) {
		for (int i = 0; i < 2; i++) {
			LockHandle handle = engine.acquire(kept("k").detached(true));
			assertThat(Claim.isRecallable(handle.owner())).isFalse();
			assertThat(handle.remaining()).isGreaterThan(SHORT_LEASE);
			CompletableFuture<Optional<LockHandle>> another = inThread(() -> this.engine.tryAcquire("k"));
			assertThat(another).as("busy at once").succeedsWithin(PATIENCE);
			assertThat(another.join()).isEmpty();
			handle.close();
			assertThat(engine.keysKept()).isZero();
			assertThat(holderOf("k")).isNull();
		}
	}

	@Test
	void isADefaultForWhatCanStay() {
		LockEngine keeping = build(LockEngine.builder(this.store).keepTime(KEEP));
		keeping.acquire("k").close();
		assertThat(keeping.keysKept()).isOne();
		keeping.acquire(LockRequest.of("l").fenced(true)).close();
		keeping.acquire(LockRequest.of("m").keepTime(Duration.ZERO)).close();
		keeping.acquire(LockRequest.of("n").leaseTime(LEASE)).close();
		assertThat(keeping.keysKept()).isOne();
		keeping.close();
	}

	static List<LockRequest> refused() {
		return List.of(LockRequest.of("k").mode(LockMode.SHARED), LockRequest.of("k").permits(2),
				LockRequest.of("k").fair(true), LockRequest.of("k").fenced(true), LockRequest.of("k", "l"),
				LockRequest.of("k").leaseTime(LEASE), LockRequest.of("k").maxHoldTime(LEASE),
				LockRequest.of("k").minHoldTime(LEASE), LockRequest.of("k").releaseOn(ReleaseOn.EXPIRY));
	}

	@ParameterizedTest
	@MethodSource
	void refused(LockRequest request) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.engine.acquire(request.keepTime(KEEP)))
			.withMessageContaining("keepTime");
		request.keepTime(Duration.ZERO).requireValid();
	}

	/**
	 * Threads of two JVMs, and requests that no thread waits for, contend for two keys
	 * that stay for a moment.
	 */
	@Test
	void excludesAsEver() {
		InMemoryLockBackend shared = new InMemoryLockBackend();
		int[] counts = new int[2];
		List<CompletableFuture<Boolean>> all = new ArrayList<>();
		try (LockEngine one = LockEngine.builder(shared).keepTime(Duration.ofMillis(2)).build();
				LockEngine two = LockEngine.builder(shared).keepTime(Duration.ofMillis(3)).build()) {
			for (int thread = 0; thread < 6; thread++) {
				LockEngine engine = (thread % 2 == 0) ? one : two;
				boolean async = thread > 3;
				int keep = thread;
				all.add(inThread(() -> {
					for (int i = 0; i < 2_000; i++) {
						int key = (i / 50) % 2;
						LockRequest request = waiting("k" + key, LONG).detached(true);
						LockRequest asked = (keep == 2) ? request.keepTime(Duration.ZERO) : request;
						LockHandle handle = async ? engine.acquireAsync(asked).join() : engine.acquire(asked);
						counts[key]++;
						handle.close();
					}
					return true;
				}));
			}
			all.forEach((each) -> Patience.get(each, "the contenders"));
			assertThat(counts[0] + counts[1]).isEqualTo(6 * 2_000);
			assertThat(one.keysTakenAgain() + two.keysTakenAgain()).isPositive();
			await().until(() -> !one.hasQueues() && !two.hasQueues());
		}
	}

}
