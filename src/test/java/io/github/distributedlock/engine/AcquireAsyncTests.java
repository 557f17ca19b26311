package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Holder;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

/**
 * Requests that no thread waits for, on the fake clock: what they do is done when time is
 * moved.
 */
class AcquireAsyncTests extends EngineFixture {

	private static final Duration WAIT = Duration.ofSeconds(5);

	@Test
	void acquiresAFreeKey() {
		CompletableFuture<LockHandle> acquired = this.engine.acquireAsync(request("k"));
		assertThat(acquired).as("before a thread asks").isNotDone();
		act();
		LockHandle handle = acquired.join();
		assertThat(handle.isHeld()).isTrue();
		assertThat(LockHandle.current()).isEmpty();
		assertThat(this.backend.steps()).containsExactly("acquire k");
		handle.closeAsync();
		assertThat(holderOf("k")).isNull();
		assertThat(events(LockEvent.Acquired.class)).hasSize(1);
	}

	@Test
	void waitsForAKeyOfThisJvm() {
		LockHandle first = this.engine.acquire("k");
		CompletableFuture<LockHandle> second = this.engine.acquireAsync(waiting("k", WAIT));
		act();
		assertThat(second).isNotDone();
		assertThat(this.engine.requestsWaiting()).isOne();
		first.close();
		act();
		assertThat(second.join().owner()).isEqualTo(first.owner());
		assertThat(this.engine.requestsWaiting()).isZero();
		second.join().close();
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void waitsForAKeyOfAnotherJvm() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> acquired = this.engine.acquireAsync(waiting("k", WAIT));
		act();
		assertThat(acquired).isNotDone();
		releasedElsewhere("k");
		act();
		assertThat(acquired).isCompleted();
	}

	@Test
	void failsWhenTheKeyWasBusyForAllThatTime() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> acquired = this.engine.acquireAsync(waiting("k", WAIT));
		CompletableFuture<Optional<LockHandle>> tried = this.engine.tryAcquireAsync(waiting("k", WAIT));
		this.time.advance(WAIT.minusMillis(1));
		assertThat(acquired).isNotDone();
		assertThat(tried).isNotDone();
		this.time.advance(Duration.ofMillis(1));
		assertFails(acquired, LockNotAcquiredException.class);
		assertThat(tried.join()).isEmpty();
		assertThat(hasQueues()).isFalse();
		assertThat(events(LockEvent.NotAcquired.class)).hasSize(2);
	}

	@Test
	void withdrawsWhenItIsCancelled() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> cancelled = this.engine.acquireAsync(waiting("k", WAIT));
		CompletableFuture<LockHandle> next = this.engine.acquireAsync(waiting("k", WAIT));
		act();
		cancelled.cancel(false);
		act();
		assertThat(this.engine.requestsWaiting()).isOne();
		releasedElsewhere("k");
		act();
		assertThat(next).isCompleted();
		next.join().close();
		assertThat(hasQueues()).isFalse();
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void servesInTheOrderOfTheRequests() {
		LockHandle first = this.engine.acquire("k");
		List<Integer> served = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			int number = i;
			this.engine.acquireAsync(waiting("k", WAIT)).thenAccept((handle) -> {
				served.add(number);
				handle.close();
			});
		}
		first.close();
		act();
		assertThat(served).containsExactly(0, 1, 2);
		assertThat(this.backend.steps()).as("handed on in this JVM").containsExactly("acquire k", "release k");
	}

	@Test
	void waitsInOneQueueWithThreads() {
		LockHandle first = this.engine.acquire("k");
		CompletableFuture<LockHandle> second = this.engine.acquireAsync(waiting("k", WAIT));
		act();
		CompletableFuture<LockHandle> third = acquiring(waiting("k", WAIT));
		first.close();
		act();
		assertThat(third).isNotDone();
		second.join().close();
		assertThat(third).succeedsWithin(PATIENCE);
	}

	@Test
	void cancelledAmongSeveralKeysItGivesBackThoseThatItHas() {
		ownedElsewhere("b", LEASE);
		CompletableFuture<LockHandle> acquired = this.engine.acquireAsync(LockRequest.of("a", "b").waitTime(WAIT));
		act();
		assertThat(holderOf("a")).isNotNull();
		acquired.cancel(false);
		act();
		assertThat(holderOf("a")).isNull();
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void tokenComesWithTheHandle() {
		CompletableFuture<LockHandle> acquired = this.engine.acquireAsync(request("k").fenced(true));
		act();
		assertThat(acquired.join().fencingToken()).isPresent();
	}

	@Test
	void refusesWhatTheBlockingFormRefuses() {
		this.backend.exclusiveOnly();
		CompletableFuture<LockHandle> tooLong = this.engine.acquireAsync(request("k".repeat(2000)));
		CompletableFuture<LockHandle> shared = this.engine.acquireAsync(request("k").mode(LockMode.SHARED));
		act();
		assertFails(tooLong, IllegalArgumentException.class);
		assertFails(shared, LockBackendException.class, "does not offer");
		assertThatNullPointerException().isThrownBy(() -> this.engine.acquireAsync((LockRequest) null));
		assertThat(this.backend.steps()).isEmpty();
		assertThat(this.engine.requestsWaiting()).isZero();
	}

	@Test
	void failsAsTheBlockingFormIfTheStoreFails() {
		this.backend.breaks(ScriptedBackend.LOST_REQUEST);
		CompletableFuture<LockHandle> acquired = this.engine.acquireAsync(waiting("k", WAIT));
		this.time.advance(WAIT);
		assertFails(acquired, LockBackendException.class, "could not be acquired in 5 s, since the store failed");
	}

	@Test
	void answerThatGotLostIsRecognised() {
		this.backend.next("acquire", ScriptedBackend.LOST_REPLY);
		CompletableFuture<LockHandle> acquired = this.engine.acquireAsync(waiting("k", WAIT));
		this.time.advance(WAIT);
		acquired.join().close();
		this.time.advance(LEASE.plusSeconds(2));
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void completedByOthersItIsWithdrawn() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> acquired = this.engine.acquireAsync(waiting("k", WAIT));
		act();
		acquired.completeExceptionally(new TimeoutException());
		act();
		assertThat(this.engine.requestsWaiting()).isZero();
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void cancelledBeforeItHasAThreadItAsksForNothing() {
		this.engine.acquireAsync(request("k")).cancel(false);
		act();
		assertThat(this.backend.steps()).isEmpty();
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void handleThatComesTooLateIsGivenBack() {
		List<CompletableFuture<LockHandle>> acquired = new ArrayList<>();
		this.backend.after("acquire", () -> acquired.get(0).cancel(false));
		acquired.add(this.engine.acquireAsync(request("k")));
		act();
		assertThat(acquired.get(0)).isCancelled();
		assertThat(events(LockEvent.Acquired.class)).as("of a lock that nobody has got").isEmpty();
		assertThat(this.backend.steps()).containsExactly("acquire k", "release k");
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void cancelledByAListenerItIsReleasedForListenersToo() {
		List<CompletableFuture<LockHandle>> acquired = new ArrayList<>();
		LockEngine ours = build(
				LockEngine.builder(this.backend).watchdogTimeout(LEASE).listener(this.events::add).listener((event) -> {
					if (event instanceof LockEvent.Acquired) {
						acquired.get(0).cancel(false);
					}
				}));
		acquired.add(ours.acquireAsync(request("k").minHoldTime(WAIT)));
		act();
		assertThat(acquired.get(0)).isCancelled();
		assertThat(holderOf("k")).as("not used").isNull();
		assertThat(events(LockEvent.Acquired.class)).hasSize(1);
		assertThat(events(LockEvent.Released.class)).hasSize(1);
	}

	@Test
	void cancelledWhileItsTurnHasComeItPassesTheKeyOn() {
		LockHandle first = this.engine.acquire("k");
		CompletableFuture<LockHandle> second = this.engine.acquireAsync(waiting("k", WAIT));
		CompletableFuture<LockHandle> third = this.engine.acquireAsync(waiting("k", WAIT));
		act();
		first.close();
		second.cancel(false);
		act();
		assertThat(third.join().isHeld()).isTrue();
		third.join().close();
		assertThat(hasQueues()).isFalse();
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void requestThatGotNoThreadInTimeFails() {
		CompletableFuture<Optional<LockHandle>> tried = this.engine.tryAcquireAsync(request("k"));
		CompletableFuture<LockHandle> acquired = this.engine.acquireAsync(waiting("other", WAIT.multipliedBy(2)));
		this.time.pass(Duration.ofMillis(5001));
		act();
		assertFails(tried, LockBackendException.class, "has not answered in 5001 ms the requests before it");
		assertThat(acquired).isCompleted();
		assertThat(hasQueues()).as("but of what is held").isTrue();
		acquired.join().close();
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void stopFailsThoseThatWait() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> asks = this.engine.acquireAsync(waiting("k", WAIT));
		CompletableFuture<LockHandle> queues = this.engine.acquireAsync(waiting("k", WAIT));
		act();
		this.engine.stop();
		act();
		for (CompletableFuture<LockHandle> waiting : List.of(asks, queues, this.engine.acquireAsync(request("new")))) {
			assertFails(waiting, LockBackendException.class, "stopped");
		}
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void requestFromInsideALockIsServedDuringAStop() {
		LockHandle outer = this.engine.acquire("outer");
		CompletableFuture<LockHandle> before = this.engine.acquireAsync(waiting("k", WAIT));
		this.engine.stop();
		CompletableFuture<LockHandle> after = this.engine.acquireAsync(waiting("other", WAIT));
		outer.close();
		act();
		assertThat(before).isCompleted();
		assertThat(after).isCompleted();
	}

	@Test
	void stopWaitsForTheStage() {
		CompletableFuture<String> stage = new CompletableFuture<>();
		CompletableFuture<String> result = this.engine.executeAsync(request("k"), () -> stage);
		act();
		CompletableFuture<Void> stopped = this.engine.stop();
		assertThat(stopped).isNotDone();
		stage.complete("done");
		assertThat(stopped).isCompleted();
		assertThat(result).isCompletedWithValue("done");
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void stageThatFailsFailsTheResultAfterTheRelease() {
		CompletableFuture<String> stage = new CompletableFuture<>();
		CompletableFuture<String> result = this.engine.executeAsync(request("k"), () -> stage);
		act();
		assertThat(holderOf("k")).isNotNull();
		CompletableFuture<Holder> seen = result.handle((value, failure) -> holderOf("k"));
		IllegalStateException failure = new IllegalStateException("test");
		stage.completeExceptionally(failure);
		assertThat(seen).isCompletedWithValue(null);
		assertThat(result).failsWithin(Duration.ZERO).withThrowableThat().withCause(failure);
	}

	@Test
	void codeThatThrowsOrReturnsNothingFailsTheResult() {
		IllegalStateException failure = new IllegalStateException("test");
		CompletableFuture<String> thrown = this.engine.executeAsync(request("a"), () -> {
			throw failure;
		});
		CompletableFuture<String> nothing = this.engine.executeAsync(request("b"), () -> null);
		act();
		assertThat(thrown).failsWithin(Duration.ZERO).withThrowableThat().withCause(failure);
		assertFails(nothing, NullPointerException.class, "returned null");
		assertThat(holderOf("a")).isNull();
		assertThat(holderOf("b")).isNull();
	}

	@Test
	void cancelledBeforeTheLockIsThereTheCodeIsNotCalled() {
		ownedElsewhere("k", LEASE);
		List<String> calls = new ArrayList<>();
		CompletableFuture<String> result = this.engine.executeAsync(waiting("k", WAIT), () -> {
			calls.add("called");
			return CompletableFuture.completedFuture("done");
		});
		act();
		result.cancel(false);
		releasedElsewhere("k");
		act();
		assertThat(calls).isEmpty();
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void cancelledAfterwardsTheLockIsHeldUntilTheStageHasCompleted() {
		CompletableFuture<String> stage = new CompletableFuture<>();
		CompletableFuture<String> result = this.engine.executeAsync(request("k"), () -> stage);
		act();
		result.cancel(false);
		act();
		assertThat(stage).isNotDone();
		assertThat(holderOf("k")).isNotNull();
		stage.complete("done");
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void lockIsCurrentOnlyWhileTheCodeRuns() {
		List<Optional<LockHandle>> current = new ArrayList<>();
		CompletableFuture<String> stage = new CompletableFuture<>();
		CompletableFuture<String> result = this.engine.executeAsync(request("k"), () -> {
			current.add(LockHandle.current());
			this.engine.run(request("k"), () -> current.add(LockHandle.current()));
			return stage;
		});
		act();
		assertThat(current).hasSize(2).allMatch(Optional::isPresent);
		assertThat(LockHandle.current()).isEmpty();
		stage.complete("done");
		assertThat(result).isCompletedWithValue("done");
		assertThat(this.backend.steps()).containsExactly("acquire k", "release k");
	}

	@Test
	void contextOfTheRequestIsCarriedToWhatDependsOnIt() {
		ThreadLocal<String> context = new ThreadLocal<>();
		LockEngine engine = build(LockEngine.builder(this.backend).contextCapture(() -> {
			String captured = context.get();
			return (task) -> () -> {
				context.set(captured);
				task.run();
				context.remove();
			};
		}));
		List<String> seen = new ArrayList<>();
		context.set("of the request");
		engine.acquireAsync(request("a")).thenAccept((handle) -> seen.add(context.get()));
		engine.executeAsync(request("b"), () -> {
			seen.add(context.get());
			return CompletableFuture.completedFuture("done");
		}).thenAccept((value) -> seen.add(context.get()));
		context.remove();
		act();
		assertThat(seen).containsExactly("of the request", "of the request", "of the request");
	}

	@Test
	void burstOfRequestsThatMayNotWaitIsServedIfTheStoreAnswers() {
		List<CompletableFuture<Optional<LockHandle>>> tried = new ArrayList<>();
		for (int i = 0; i < 3_000; i++) {
			this.backend.before("acquire", () -> this.time.pass(Duration.ofMillis(3)));
			tried.add(this.engine.tryAcquireAsync(request("k" + i)));
		}
		this.time.advance(Duration.ofSeconds(20));
		assertThat(tried).allMatch((request) -> request.join().isPresent());
	}

}
