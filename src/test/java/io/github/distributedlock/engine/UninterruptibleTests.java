package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.LockRequest;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A request that is not interruptible keeps its place in spite of interrupts, and the
 * thread's interrupt flag is set when the request has ended.
 */
class UninterruptibleTests extends EngineFixture {

	private static final Duration LONG = Duration.ofMinutes(10);

	private final List<String> served = new CopyOnWriteArrayList<>();

	@Test
	void keepsItsPlaceInThisJvm() {
		LockHandle held = this.engine.acquire("k");
		CompletableFuture<Boolean> first = serving("first", uninterruptible("k"));
		Thread interrupted = lastThread();
		CompletableFuture<Boolean> second = serving("second", waiting("k", LONG));
		interrupted.interrupt();
		untilNoted(interrupted);
		held.close();
		assertThat(first).as("the interrupt flag").succeedsWithin(PATIENCE).isEqualTo(true);
		assertThat(second).succeedsWithin(PATIENCE).isEqualTo(false);
		assertThat(this.served).containsExactly("first", "second");
	}

	@Test
	void keepsItsPlaceInTheStore() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<Boolean> first = serving("first", uninterruptible("k").fair(true));
		Thread interrupted = lastThread();
		CompletableFuture<Boolean> second = serving("second", waiting("k", LONG).fair(true));
		interrupted.interrupt();
		untilNoted(interrupted);
		interrupted.interrupt();
		untilNoted(interrupted);
		assertThat(this.backend.steps()).doesNotContain("withdraw k");
		releasedElsewhere("k");
		assertThat(first).as("the interrupt flag").succeedsWithin(PATIENCE).isEqualTo(true);
		assertThat(second).succeedsWithin(PATIENCE).isEqualTo(false);
		assertThat(this.served).containsExactly("first", "second");
	}

	@Test
	void waitsNoLongerForBeingInterrupted() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<Boolean> waiting = serving("nobody", uninterruptible("k").waitTime(Duration.ofSeconds(2)));
		Thread interrupted = lastThread();
		this.time.advance(Duration.ofSeconds(1));
		interrupted.interrupt();
		untilNoted(interrupted);
		this.time.advance(Duration.ofSeconds(1));
		assertFails(waiting, LockNotAcquiredException.class);
	}

	@Test
	void commandThatTheClientBreaksOffIsAskedAgain() {
		ownedElsewhere("k", LEASE);
		this.backend.next("register", (step) -> {
			step.get();
			Thread.currentThread().interrupt();
			throw LockBackendException.of("command interrupted").retryable(true).build();
		});
		CompletableFuture<Boolean> waiting = serving("it", uninterruptible("k"));
		releasedElsewhere("k");
		this.time.advance(Duration.ofSeconds(1));
		assertThat(waiting).as("the interrupt flag").succeedsWithin(PATIENCE).isEqualTo(true);
		assertThat(this.served).containsExactly("it");
	}

	@Test
	void threadThatIsInterruptedBeforeBeginsToWait() {
		Thread.currentThread().interrupt();
		try (LockHandle handle = this.engine.acquire(uninterruptible("k"))) {
			assertThat(handle.isHeld()).isTrue();
			assertThat(Thread.currentThread().isInterrupted()).isTrue();
		}
		assertThat(Thread.interrupted()).isTrue();
	}

	@Test
	void requestThatMayNotWaitAsksAgainIfItsCommandIsBrokenOff() {
		breakOff();
		LockHandle handle = this.engine.tryAcquire(request("k").interruptible(false)).orElseThrow();
		assertThat(Thread.interrupted()).isTrue();
		handle.close();
		assertThat(holderOf("k")).isNull();
		assertThat(this.backend.steps()).containsExactly("acquire k", "acquire k", "release k");
	}

	@Test
	void brokenOffCommandsAreNotReportedAsABusyLock() {
		breakOff();
		breakOff();
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.engine.tryAcquire(request("k").interruptible(false)))
			.withMessage("command interrupted");
		assertThat(Thread.interrupted()).isTrue();
	}

	@Test
	void readerWhoseCommandIsBrokenOffAsksAgainBesideTheQueueOfItsJvm() {
		breakOff();
		this.engine.acquire(uninterruptible("k").mode(LockMode.SHARED)).close();
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.backend.steps()).containsExactly("acquire k", "acquire k", "release k");
	}

	@Test
	void severalKeysKeepTheirPlaces() {
		LockHandle held = this.engine.acquire("b");
		CompletableFuture<Boolean> several = serving("several",
				LockRequest.of("a", "b").waitTime(LONG).interruptible(false));
		Thread interrupted = lastThread();
		interrupted.interrupt();
		untilNoted(interrupted);
		assertThat(holderOf("a")).as("held meanwhile").isNotNull();
		held.close();
		assertThat(several).as("the interrupt flag").succeedsWithin(PATIENCE).isEqualTo(true);
	}

	private void breakOff() {
		this.backend.next("acquire", (step) -> {
			step.get();
			Thread.currentThread().interrupt();
			throw LockBackendException.of("command interrupted").retryable(true).build();
		});
	}

	private static LockRequest uninterruptible(String key) {
		return waiting(key, LONG).interruptible(false);
	}

	/**
	 * Acquires and gives back.
	 * @return whether the thread was marked as interrupted under the lock
	 */
	private CompletableFuture<Boolean> serving(String name, LockRequest request) {
		int before = this.time.waiting();
		CompletableFuture<Boolean> serving = inThread(() -> {
			try (LockHandle handle = this.engine.acquire(request)) {
				this.served.add(name);
				return Thread.interrupted();
			}
		});
		Awaitility.await("the request waits").until(() -> serving.isDone() || this.time.waiting() > before);
		return serving;
	}

	/**
	 * Until the interrupt was noted and the thread waits again.
	 */
	private void untilNoted(Thread interrupted) {
		Awaitility.await("the thread waits again")
			.atMost(PATIENCE)
			.until(() -> !interrupted.isInterrupted() && interrupted.getState() == Thread.State.WAITING);
	}

}
