package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.engine.LocalKey.Entry;
import io.github.distributedlock.engine.Wait.Acquisition;
import io.github.distributedlock.fixtures.Exploration;
import io.github.distributedlock.fixtures.Interleavings;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Events that come at the same time for requests without a thread (a nudge, the end of
 * the wait time, a withdrawal, the thread that works on the requests): one request has
 * the turn at a time, none waits while nobody has the turn, and each ends once.
 */
@Exploration
@Tag("optimized")
public class AsyncDriverLincheckTests {

	private static final QueueKey K = new QueueKey("k", Waiter.exclusive("us"));

	private static final Duration WAIT = Duration.ofSeconds(1);

	private final StillTime time = new StillTime();

	private final NodeTasks tasks = new NodeTasks(this.time::request, this.time);

	private final LocalQueue queue = new LocalQueue((key) -> {
		throw new IllegalStateException("nothing is registered");
	}, null);

	private final AtomicInteger inside = new AtomicInteger();

	private final AtomicInteger most = new AtomicInteger();

	/**
	 * The first request has the turn; the others wait for a thread.
	 */
	private final Request[] requests = new Request[3];

	public AsyncDriverLincheckTests() {
		this.requests[0] = new Request();
		workAll();
		this.requests[1] = new Request();
		this.requests[2] = new Request();
	}

	@Test
	void nothingIsMissed() {
		Interleavings.check(Interleavings.of(3, 2), AsyncDriverLincheckTests.class);
	}

	@Operation
	public void withdraw(@Param(gen = IntGen.class, conf = "1:2") int number) {
		this.requests[number].driver.cancel();
	}

	/**
	 * The request that has the turn gives the turn back.
	 */
	@Operation
	public void leave() {
		for (Request request : this.requests) {
			request.leave();
		}
	}

	/**
	 * A thread sees to a request.
	 */
	@Operation
	public void work() {
		this.time.work();
	}

	@Operation
	public void ring() {
		this.time.pass(WAIT);
		this.time.ring();
	}

	@Validate
	public void nothingIsLeft() {
		workAll();
		Interleavings.require(this.most.get() <= 1, "two had the turn");
		boolean waits = Arrays.stream(this.requests).anyMatch((request) -> request.ends.get() == 0);
		Interleavings.require(!waits || this.inside.get() == 1, "one waits, but nobody has the turn");
		for (int number = 0; number < this.requests.length; number++) {
			withdraw(number);
			workAll();
			leave();
			workAll();
		}
		for (Request request : this.requests) {
			Interleavings.require(request.ends.get() == 1, "one has not ended once");
		}
		Interleavings.require(this.queue.isEmpty(), "a queue is left over");
	}

	private void workAll() {
		while (this.time.tasks() > 0) {
			this.time.work();
		}
	}

	/**
	 * Waits for the turn in the queue, until the wait time is over.
	 */
	private final class Request implements Acquisition, AsyncDriver.Client {

		private final Wait wait = new Wait(AsyncDriverLincheckTests.this.time, WAIT, false);

		private final AsyncDriver driver = new AsyncDriver(new ReleasedKeys(), AsyncDriverLincheckTests.this.tasks,
				this.wait, this);

		private final Entry entry = AsyncDriverLincheckTests.this.queue.enter(K, true, false, this.wait);

		private final AtomicInteger ends = new AtomicInteger();

		private boolean begun;

		private boolean mayAsk;

		private volatile boolean hasTurn;

		private Request() {
			this.driver.start(this);
		}

		@Override
		public Next advance(boolean signalled) {
			boolean first = !this.begun;
			this.begun = true;
			this.mayAsk |= first ? LocalQueueTests.takeTurn(this.entry) : signalled;
			return this.mayAsk ? Need.ASK : first ? new Await(this.entry.nudges(), WAIT.toNanos()) : Need.DONE;
		}

		@Override
		public Next ask() {
			int now = AsyncDriverLincheckTests.this.inside.incrementAndGet();
			AsyncDriverLincheckTests.this.most.accumulateAndGet(now, Math::max);
			this.hasTurn = true;
			return Need.DONE;
		}

		@Override
		public String key() {
			return "k";
		}

		@Override
		public List<Hold> holds() {
			return null;
		}

		@Override
		public void end() {
			if (!this.hasTurn) {
				this.entry.leave();
			}
		}

		@Override
		public void checkSupport() {
			// Supports each request.
		}

		@Override
		public void ended(Throwable failure) {
			this.ends.incrementAndGet();
		}

		private synchronized void leave() {
			if (this.hasTurn && this.ends.get() > 0) {
				this.hasTurn = false;
				AsyncDriverLincheckTests.this.inside.decrementAndGet();
				this.entry.leave();
			}
		}

	}

}
