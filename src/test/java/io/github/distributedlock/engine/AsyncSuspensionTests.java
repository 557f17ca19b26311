package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Events between the last look of a request without a thread and its suspension: the
 * request sets an alarm just then.
 */
class AsyncSuspensionTests extends EngineFixture {

	private static final Duration WAIT = Duration.ofSeconds(20);

	private final AtomicReference<Runnable> whileItSuspends = new AtomicReference<>();

	private final EngineTime suspending = after(() -> {
		boolean suspends = isInside("AsyncDriver", "trySuspend") && isInside("AsyncDriver", "tryLeave");
		Runnable action = suspends ? this.whileItSuspends.getAndSet(null) : null;
		if (action != null) {
			action.run();
		}
	});

	private final LockEngine watched = build(
			LockEngine.builder(this.backend).application("watched").watchdogTimeout(LEASE), this.suspending, this.time);

	@Test
	void turnThatComesWhileItSuspendsIsNotMissed() {
		LockHandle first = this.watched.acquire(LockRequest.of("k").detached(true));
		this.whileItSuspends.set(first::close);
		CompletableFuture<LockHandle> second = this.watched.acquireAsync(waiting("k", WAIT));
		act();
		assertThat(this.whileItSuspends.get()).as("did not suspend").isNull();
		assertThat(second).isCompleted();
	}

	@Test
	void wakeUpThatComesWhileItSuspendsIsNotMissed() {
		ownedElsewhere("k", LEASE);
		this.whileItSuspends.set(() -> releasedElsewhere("k"));
		CompletableFuture<LockHandle> acquired = this.watched.acquireAsync(waiting("k", WAIT));
		act();
		assertThat(this.whileItSuspends.get()).as("did not suspend").isNull();
		assertThat(acquired).isCompleted();
	}

	@Test
	void cancellationWhileItSuspendsIsNotMissed() {
		ownedElsewhere("k", LEASE);
		AtomicReference<CompletableFuture<LockHandle>> acquired = new AtomicReference<>();
		this.whileItSuspends.set(() -> acquired.get().cancel(false));
		acquired.set(this.watched.acquireAsync(waiting("k", WAIT)));
		act();
		assertThat(this.whileItSuspends.get()).as("did not suspend").isNull();
		assertThat(this.watched.requestsWaiting()).isZero();
		assertThat(this.watched.hasQueues()).isFalse();
	}

	@Test
	void stopWhileItSuspendsIsNotMissed() {
		LockHandle first = this.watched.acquire(LockRequest.of("k").detached(true));
		this.whileItSuspends.set(this.watched::stop);
		CompletableFuture<LockHandle> second = this.watched.acquireAsync(waiting("k", WAIT));
		act();
		assertThat(this.whileItSuspends.get()).as("did not suspend").isNull();
		assertThat(second).isCompletedExceptionally();
		first.close();
	}

}
