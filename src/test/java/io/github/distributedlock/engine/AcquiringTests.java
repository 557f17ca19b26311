package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockInterruptedException;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.fixtures.Patience;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Contracts 1 (one deadline), 2 (local queue), 4 (owner token) and 14 (several keys).
 */
class AcquiringTests extends EngineFixture {

	@Test
	void uncontendedCycleIsTwoCommands() {
		this.engine.acquire("k").close();
		assertThat(this.backend.steps()).containsExactly("acquire k", "release k");
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void busyKeyIsAnExceptionThatNamesKeyTimeAndHolder() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> acquiring = acquiring(waiting("k", Duration.ofSeconds(2)));
		this.time.advance(Duration.ofSeconds(2));
		assertThat(acquiring).failsWithin(PATIENCE)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockNotAcquiredException.class)
			.withMessage("Lock [k] was busy for 2 s (waitTime 2 s), held by other#1:1");
		assertThat(events(LockEvent.NotAcquired.class)).hasSize(1);
	}

	@Test
	void requestWithoutWaitTimeWaitsForTheDefault() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> acquiring = acquiring(request("k"));
		this.time.advance(Duration.ofMillis(4999));
		assertThat(acquiring).isNotDone();
		this.time.advance(Duration.ofMillis(1));
		assertThat(acquiring).failsWithin(PATIENCE);
	}

	@Test
	void tryAcquireMakesOneAttempt() {
		ownedElsewhere("k", LEASE);
		assertThat(this.engine.tryAcquire("k")).isEmpty();
		assertThat(this.backend.steps()).containsExactly("acquire k");
	}

	@Test
	void tryAcquireWaitsIfTheRequestSays() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<Boolean> trying = inThread(
				() -> this.engine.tryAcquire(waiting("k", Duration.ofSeconds(1))).isPresent());
		untilWaiting(1);
		this.time.advance(Duration.ofSeconds(1));
		assertThat(trying).succeedsWithin(PATIENCE).isEqualTo(false);
	}

	@Test
	void timeInTheLocalQueueCountsAndNoCommandFollowsTheDeadline() {
		LockHandle held = this.engine.acquire("k");
		this.backend.forgetSteps();
		CompletableFuture<LockHandle> acquiring = acquiring(waiting("k", Duration.ofSeconds(1)));
		this.time.advance(Duration.ofSeconds(1));
		assertFails(acquiring, LockNotAcquiredException.class);
		assertThat(this.backend.steps()).isEmpty();
		held.close();
	}

	@Test
	void restOfTheDeadlineIsSpentAtTheStore() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> first = acquiring(waiting("k", Duration.ofSeconds(1)));
		CompletableFuture<LockHandle> second = acquiring(waiting("k", Duration.ofSeconds(3)));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(first).failsWithin(PATIENCE);
		untilWaiting(1);
		this.time.advance(Duration.ofMillis(1999));
		assertThat(second).isNotDone();
		this.time.advance(Duration.ofMillis(1));
		assertThat(second).failsWithin(PATIENCE);
	}

	@Test
	void failingStoreIsRetriedAndNotReportedAsBusy() {
		this.backend.breaks(ScriptedBackend.LOST_REQUEST);
		CompletableFuture<LockHandle> acquiring = acquiring(waiting("k", Duration.ofSeconds(1)));
		for (int i = 0; i < 20 && !acquiring.isDone(); i++) {
			this.time.advance(Duration.ofMillis(50));
			Awaitility.await().until(() -> acquiring.isDone() || this.time.waiting() == 1);
		}
		assertThat(acquiring).failsWithin(PATIENCE)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockBackendException.class)
			.withMessage("Lock 'k' could not be acquired in 1 s, since the store failed: timed out");
		assertThat(this.backend.steps()).filteredOn((step) -> !step.startsWith("release")).hasSizeBetween(3, 10);
	}

	@Test
	void whoQueuesBehindAFailingStoreIsNotToldBusy() {
		this.backend.breaks(ScriptedBackend.LOST_REQUEST);
		acquiring(waiting("k", Duration.ofSeconds(60)));
		CompletableFuture<LockHandle> behind = acquiring(waiting("k", Duration.ofSeconds(1)));
		this.time.advance(Duration.ofSeconds(1));
		assertFails(behind, LockBackendException.class,
				"could not be acquired in 1 s, since the store failed: timed out");
	}

	@Test
	void backendThatThrowsSomethingElseIsABackendFailure() {
		this.backend.next("acquire", (step) -> {
			throw new IllegalStateException("driver bug");
		});
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.engine.tryAcquire("k"))
			.withMessageContaining("'acquire' of lock 'k'")
			.withCauseInstanceOf(IllegalStateException.class);
	}

	@Test
	void threadsOfThisJvmAreServedInOrderWithoutTheStore() {
		LockHandle held = this.engine.acquire("k");
		this.backend.forgetSteps();
		CompletableFuture<LockHandle> first = acquiring(request("k"));
		CompletableFuture<LockHandle> second = acquiring(request("k"));
		CompletableFuture<LockHandle> third = acquiring(request("k"));
		assertThat(this.backend.steps()).isEmpty();
		held.close();
		assertThat(first).succeedsWithin(PATIENCE);
		assertThat(second).isNotDone();
		first.join().close();
		assertThat(second).succeedsWithin(PATIENCE);
		assertThat(third).isNotDone();
		second.join().close();
		succeeded(third).close();
		assertThat(this.backend.steps()).containsExactly("release k");
	}

	@Test
	void impatientRequestForALocalKeyNeedsNoCommand() {
		LockHandle held = this.engine.acquire("k");
		ownedElsewhere("queued", LEASE);
		acquiring(request("queued"));
		this.backend.forgetSteps();
		assertThat(inThread(() -> this.engine.tryAcquire("k").isPresent()).join()).isFalse();
		assertThat(this.engine.tryAcquire("queued")).isEmpty();
		assertThat(this.backend.steps()).isEmpty();
		held.close();
	}

	@Test
	void queuesVanishWhenIdle() {
		LockHandle held = this.engine.acquire("k");
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", Duration.ofSeconds(1)));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(waiter).failsWithin(PATIENCE);
		assertThat(this.engine.hasQueues()).isTrue();
		held.close();
		assertThat(this.engine.hasQueues()).isFalse();
	}

	@Test
	void interruptWhileWaitingAtTheStoreKeepsTheFlagAndWithdraws() throws Exception {
		ownedElsewhere("k", LEASE);
		boolean[] flag = new boolean[1];
		CompletableFuture<LockHandle> acquiring = inThread(() -> {
			try {
				return this.engine.acquire("k");
			}
			finally {
				flag[0] = Thread.currentThread().isInterrupted();
			}
		});
		untilWaiting(1);
		lastThread().interrupt();
		assertFails(acquiring, LockInterruptedException.class, "for lock [k]; it is not held");
		assertThat(flag[0]).isTrue();
		Awaitility.await().until(() -> this.backend.steps().contains("withdraw k"));
		Awaitility.await().until(() -> !this.engine.hasQueues());
	}

	@Test
	void interruptOfTheAskingThreadIsNoFailureForTheWaitingOnes() throws Exception {
		ownedElsewhere("k", LEASE);
		CountDownLatch queued = new CountDownLatch(1);
		CountDownLatch tried = new CountDownLatch(1);
		this.backend.next("register", (step) -> {
			Patience.await(queued, "the test goes on");
			this.backend.breaks((blocked) -> {
				Patience.await(tried, "the test goes on");
				return blocked.get();
			});
			Thread.currentThread().interrupt();
			throw LockBackendException.of("command interrupted").retryable(true).build();
		});
		CompletableFuture<LockHandle> interrupted = inThread(() -> this.engine.acquire("k"));
		Awaitility.await().until(() -> this.backend.steps().contains("register k"));
		CompletableFuture<LockHandle> next = acquiring(request("k"));
		queued.countDown();
		assertFails(interrupted, LockInterruptedException.class);
		assertThat(this.engine.tryAcquire("k")).isEmpty();
		this.backend.works();
		tried.countDown();
		releasedElsewhere("k");
		assertThat(next).succeedsWithin(PATIENCE);
	}

	@Test
	void interruptInTheLocalQueueLetsTheNextOneThrough() {
		LockHandle held = this.engine.acquire("k");
		CompletableFuture<LockHandle> interrupted = acquiring(request("k"));
		Thread thread = lastThread();
		CompletableFuture<LockHandle> next = acquiring(request("k"));
		thread.interrupt();
		assertThat(interrupted).failsWithin(PATIENCE);
		held.close();
		assertThat(next).succeedsWithin(PATIENCE);
	}

	@Test
	void interruptedThreadMayStillTryAndRelease() {
		Thread.currentThread().interrupt();
		LockHandle handle = this.engine.tryAcquire("k").orElseThrow();
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
		handle.close();
		assertThat(Thread.interrupted()).isTrue();
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void interruptedThreadDoesNotBeginToWait() {
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(() -> this.engine.acquire("k"));
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.backend.steps()).isEmpty();
	}

	@Test
	void ownerTokenIsUniqueForEachAcquisitionAndReadable() {
		String first;
		try (LockHandle handle = this.engine.acquire("k")) {
			first = handle.owner();
			assertThat(first)
				.matches("us@[A-Za-z0-9._-]+/" + ProcessHandle.current().pid() + "#[0-9a-z]+:1-[0-9]{1,9}");
			assertThat(holderOf("k")).isEqualTo(Holder.owner(first));
		}
		try (LockHandle handle = this.engine.acquire("k")) {
			assertThat(handle.owner()).isNotEqualTo(first).matches(".*:2-[0-9]{1,9}");
		}
	}

	@Test
	void severalKeysAreSortedDeduplicatedAndUnderOneOwner() {
		LockHandle handle = this.engine.acquire(LockRequest.of("b", "a", "b"));
		assertThat(handle.keys()).containsExactly("a", "b");
		assertThat(holderOf("a")).isEqualTo(Holder.owner(handle.owner()));
		assertThat(holderOf("b")).isEqualTo(Holder.owner(handle.owner()));
		assertThat(this.backend.steps()).containsExactly("acquire a", "acquire b");
		handle.close();
		assertThat(this.backend.steps().subList(2, 4)).containsExactly("release b", "release a");
	}

	@Test
	void severalKeysAreAllOrNone() {
		ownedElsewhere("b", LEASE);
		assertThat(this.engine.tryAcquire(LockRequest.of("a", "b", "c"))).isEmpty();
		assertThat(holderOf("a")).isNull();
		assertThat(holderOf("c")).isNull();
		assertThat(this.backend.steps()).containsExactly("acquire a", "acquire b", "release a");
	}

	@Test
	void severalKeysShareOneDeadline() {
		ownedElsewhere("a", Duration.ofMillis(800));
		ownedElsewhere("b", LEASE);
		CompletableFuture<LockHandle> acquiring = acquiring(LockRequest.of("a", "b").waitTime(Duration.ofSeconds(2)));
		this.time.advance(Duration.ofMillis(1000));
		Awaitility.await().until(() -> this.backend.steps().contains("register b"));
		untilWaiting(1);
		this.time.advance(Duration.ofMillis(1000));
		assertFails(acquiring, LockNotAcquiredException.class);
		assertThat(holderOf("a")).isNull();
	}

}
