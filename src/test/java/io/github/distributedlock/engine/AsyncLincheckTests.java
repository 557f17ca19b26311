package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.runtime.StillTime;
import io.github.distributedlock.fixtures.Exploration;
import io.github.distributedlock.fixtures.Interleavings;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/**
 * Whatever comes at the same time for requests that no thread waits for (their turn, the
 * end of their time, a cancellation, a thread that sees to them): one holds the key at a
 * time, none waits while nobody holds it, and in the end nothing is left.
 */
@Exploration
@Param(name = "thread", gen = ThreadIdGen.class)
public class AsyncLincheckTests {

	private static final LockRequest REQUEST = LockRequest.of("k").waitTime(Duration.ofSeconds(1));

	private final StillTime time = new StillTime();

	private final InMemoryLockBackend store = new InMemoryLockBackend(this.time::nanoTime);

	private final LockEngine engine = new LockEngine(LockEngine.builder(this.store), this.time, this.time, () -> {
	});

	private final CompletableFuture<?>[] requests = new CompletableFuture<?>[4];

	@Test
	void nothingIsLostOrLeft() {
		Interleavings.of(2, 3).check(AsyncLincheckTests.class);
	}

	@Operation
	public void request(@Param(name = "thread") int thread) {
		if (this.requests[thread] == null) {
			this.requests[thread] = this.engine.acquireAsync(REQUEST);
		}
	}

	@Operation
	public void cancel(@Param(name = "thread") int thread) {
		if (this.requests[thread] != null) {
			this.requests[thread].cancel(false);
		}
	}

	/**
	 * Gives back what it has got.
	 */
	@Operation
	public void close(@Param(name = "thread") int thread) {
		LockHandle handle = handle(thread);
		if (handle != null) {
			handle.close();
			this.requests[thread] = null;
		}
	}

	@Operation
	public void work() {
		this.time.work();
	}

	@Operation
	public void ring() {
		this.time.pass(Duration.ofSeconds(1));
		this.time.ring();
	}

	@Validate
	public void nothingIsLeft() {
		workAll();
		int held = 0;
		int waiting = 0;
		for (int thread = 0; thread < this.requests.length; thread++) {
			LockHandle handle = handle(thread);
			held += (handle != null && handle.isHeld()) ? 1 : 0;
			waiting += (this.requests[thread] != null && !this.requests[thread].isDone()) ? 1 : 0;
		}
		Interleavings.require(held <= 1, "held twice");
		Interleavings.require(waiting == 0 || held == 1, "one waits for nobody");
		for (int thread = 0; thread < this.requests.length; thread++) {
			cancel(thread);
			close(thread);
			workAll();
		}
		Interleavings.require(this.engine.requestsWaiting() == 0, "a request is left over");
		Interleavings.require(!this.engine.hasQueues(), "a queue is left over");
		Interleavings.require(this.engine.keysHeld() == 0, "a key is left over");
	}

	private void workAll() {
		while (this.time.tasks() > 0) {
			this.time.work();
		}
	}

	private LockHandle handle(int thread) {
		CompletableFuture<?> request = this.requests[thread];
		return (request != null && request.isDone() && !request.isCompletedExceptionally())
				? (LockHandle) request.join() : null;
	}

}
