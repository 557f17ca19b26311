package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.engine.LocalKey.Entry;
import io.github.distributedlock.fixtures.Exploration;
import io.github.distributedlock.fixtures.Interleavings;
import org.jetbrains.lincheck.datastructures.BooleanGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Whatever the threads of a JVM do at the same time, the queue of a key looks as if they
 * had done it one after the other: first come first served, one turn at a time.
 */
@Exploration
@Param(name = "thread", gen = ThreadIdGen.class)
@Param(name = "mayWait", gen = BooleanGen.class)
@Tag("optimized")
public class LocalQueueLincheckTests {

	private static final QueueKey K = new QueueKey("k", Waiter.exclusive("us"));

	private final Entry[] entries = new Entry[4];

	private final boolean[] told = new boolean[4];

	private final Wait wait = new Wait(new StillTime(), Duration.ZERO, false);

	private final LocalQueue queue = new LocalQueue((key) -> {
		throw new IllegalStateException("nobody has registered");
	}, null);

	@Test
	void queuesAreServedInOrder() {
		Interleavings.check(Interleavings.of(3, 4).sequentialSpecification(Line.class), LocalQueueLincheckTests.class);
	}

	@Operation
	public boolean enter(@Param(name = "thread") int thread, @Param(name = "mayWait") boolean mayWait) {
		if (this.entries[thread] != null) {
			return false;
		}
		this.entries[thread] = this.queue.enter(K, mayWait, false, this.wait);
		return this.entries[thread] != null;
	}

	@Operation
	public boolean isGranted(@Param(name = "thread") int thread) {
		Entry entry = this.entries[thread];
		if (entry == null || this.told[thread] || !LocalQueueTests.takeTurn(entry)) {
			return false;
		}
		this.told[thread] = true;
		return true;
	}

	@Operation
	public void leave(@Param(name = "thread") int thread) {
		if (this.entries[thread] != null) {
			this.entries[thread].leave();
			this.entries[thread] = null;
			this.told[thread] = false;
		}
	}

	@Validate
	public void vanishesWhenIdle() {
		for (int thread = 0; thread < this.entries.length; thread++) {
			leave(thread);
		}
		Interleavings.require(this.queue.isEmpty(), "a queue is left over");
	}

	/**
	 * The same by a single thread: who stands in line, and whether the first was told.
	 */
	public static class Line {

		private final Deque<Integer> line = new ArrayDeque<>();

		private int told = -1;

		public boolean enter(int thread, boolean mayWait) {
			return !this.line.contains(thread) && (mayWait || this.line.isEmpty()) && this.line.add(thread);
		}

		public boolean isGranted(int thread) {
			if (this.line.isEmpty() || this.line.peek() != thread || this.told == thread) {
				return false;
			}
			this.told = thread;
			return true;
		}

		public void leave(int thread) {
			if (this.line.remove(thread) && this.told == thread) {
				this.told = -1;
			}
		}

	}

}
