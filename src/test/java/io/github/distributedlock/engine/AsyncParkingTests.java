package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What happens to a request without a thread after it has looked, and before it is
 * parked: it sets its alarm just then.
 */
class AsyncParkingTests extends EngineFixture {

	private static final Duration WAIT = Duration.ofSeconds(20);

	private final AtomicReference<Runnable> whileItParks = new AtomicReference<>();

	private final EngineTime parking = after(() -> {
		boolean parks = isInside("AsyncDriver", "trySuspend") && isInside("AsyncDriver", "tryLeave");
		Runnable action = parks ? this.whileItParks.getAndSet(null) : null;
		if (action != null) {
			action.run();
		}
	});

	private final LockEngine parked = new LockEngine(
			LockEngine.builder(this.backend).application("parked").watchdogTimeout(LEASE), this.parking, this.time,
			() -> {
			});

	@Test
	void turnThatComesWhileItParksIsNotMissed() {
		LockHandle first = this.parked.acquire(LockRequest.of("k").detached(true));
		this.whileItParks.set(first::close);
		CompletableFuture<LockHandle> second = this.parked.acquireAsync(waiting("k", WAIT));
		act();
		assertThat(this.whileItParks.get()).as("did not park").isNull();
		assertThat(second).isCompleted();
	}

	@Test
	void wakeUpThatComesWhileItParksIsNotMissed() {
		ownedElsewhere("k", LEASE);
		this.whileItParks.set(() -> releasedElsewhere("k"));
		CompletableFuture<LockHandle> acquired = this.parked.acquireAsync(waiting("k", WAIT));
		act();
		assertThat(this.whileItParks.get()).as("did not park").isNull();
		assertThat(acquired).isCompleted();
	}

	@Test
	void cancellationWhileItParksIsNotMissed() {
		ownedElsewhere("k", LEASE);
		AtomicReference<CompletableFuture<LockHandle>> acquired = new AtomicReference<>();
		this.whileItParks.set(() -> acquired.get().cancel(false));
		acquired.set(this.parked.acquireAsync(waiting("k", WAIT)));
		act();
		assertThat(this.whileItParks.get()).as("did not park").isNull();
		assertThat(this.parked.requestsWaiting()).isZero();
		assertThat(this.parked.hasQueues()).isFalse();
	}

	@Test
	void stopWhileItParksIsNotMissed() {
		LockHandle first = this.parked.acquire(LockRequest.of("k").detached(true));
		this.whileItParks.set(this.parked::stop);
		CompletableFuture<LockHandle> second = this.parked.acquireAsync(waiting("k", WAIT));
		act();
		assertThat(this.whileItParks.get()).as("did not park").isNull();
		assertThat(second).isCompletedExceptionally();
		first.close();
	}

}
