package io.github.distributedlock.engine.runtime;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * Runs tasks that ask a node of the store, on few threads that all nodes share, so that a
 * node delays only its own tasks: it occupies at most half of them, and one that stalls,
 * whose last task was slow, occupies one as soon as its others have ended, if there are
 * tasks of other nodes. So each of five nodes may stall, and the others have a thread.
 * Two that begin to at the same time occupy all threads for as long as their commands
 * take, once; and once more after each moment in which nothing was asked of them. Safe
 * for use by many threads.
 * <p>
 * There are two kinds of tasks, those that begin something and those that resume it.
 * Those of one kind and one node begin in order; where both wait, one of each kind in
 * turn, so that a burst of the one does not delay the other.
 * <p>
 * Invariants: a node has a line exactly while it has tasks. One waits in it only if as
 * many others were running as may, or were about to; each that ends lets the next ones
 * begin, behind those of other nodes. If all of these got no thread, the next task of the
 * node brings one.
 */
public final class NodeTasks {

	/**
	 * How many threads there are to be.
	 */
	static final int THREADS = 6;

	/**
	 * How many of them one node may occupy.
	 */
	public static final int MOST_OF_A_NODE = THREADS / 2;

	/**
	 * A task that takes longer, in nanoseconds, is one of a node that stalls: more than
	 * the farthest network and a pause of the JVM, less than the time in which a command
	 * is usually given up.
	 */
	static final long SLOW = TimeUnit.MILLISECONDS.toNanos(250);

	/**
	 * The tasks of one node.
	 */
	private static final class Line {

		private int running;

		/**
		 * Whether the last task that has ended was.
		 */
		private boolean slow;

		private final Queue<Runnable> beginning = new ArrayDeque<>(1);

		private final Queue<Runnable> resuming = new ArrayDeque<>(1);

		private boolean resumed;

		/**
		 * Whether a task that comes now is the next one, and may begin.
		 */
		boolean isOpen(int most) {
			return this.running == 0 || (this.running < most && waiting() == 0);
		}

		int waiting() {
			return this.beginning.size() + this.resuming.size();
		}

		/**
		 * The next task, if it may begin.
		 */
		@Nullable Runnable next(int most) {
			if (this.running >= most) {
				return null;
			}
			this.resumed = !this.resuming.isEmpty() && (!this.resumed || this.beginning.isEmpty());
			Runnable next = (this.resumed ? this.resuming : this.beginning).poll();
			this.running += (next != null) ? 1 : 0;
			return next;
		}

	}

	private final Map<Object, Line> lines = new HashMap<>();

	private final Executor threads;

	private final EngineTime time;

	public NodeTasks(Executor threads, EngineTime time) {
		this.threads = threads;
		this.time = time;
	}

	/**
	 * Runs a task that begins something, as soon as its node allows. If this throws, it
	 * does not run.
	 */
	public void run(Object node, Runnable task) {
		run(node, task, false);
	}

	/**
	 * Runs a task that goes on with what was begun: others may wait for that.
	 */
	public void resume(Object node, Runnable task) {
		run(node, task, true);
	}

	private void run(Object node, Runnable task, boolean resumes) {
		if (mayBegin(node, task, resumes)) {
			Undo.ifFails(() -> begin(node, task), () -> leave(node));
		}
	}

	/**
	 * How many tasks of the node wait now for others to end.
	 */
	public synchronized int waiting(Object node) {
		Line line = this.lines.get(node);
		return (line != null) ? line.waiting() : 0;
	}

	private void begin(Object node, Runnable task) {
		this.threads.execute(() -> {
			long begun = this.time.nanoTime();
			try {
				task.run();
			}
			finally {
				goOn(node, this.time.nanoTime() - begun > SLOW);
			}
		});
	}

	/**
	 * Lets the next tasks begin in the place of one that has ended; on this thread if no
	 * other can be had.
	 */
	private void goOn(Object node, boolean slow) {
		Runnable next = ended(node, slow);
		while (next != null) {
			try {
				begin(node, next);
				next = next(node);
			}
			catch (OutOfMemoryError noThread) {
				next.run();
				next = ended(node, slow);
			}
		}
	}

	private synchronized boolean mayBegin(Object node, Runnable task, boolean resumes) {
		Line line = this.lines.computeIfAbsent(node, (first) -> new Line());
		boolean begins = line.isOpen(most(line));
		if (begins) {
			line.running++;
		}
		else {
			(resumes ? line.resuming : line.beginning).add(task);
		}
		return begins;
	}

	private synchronized @Nullable Runnable ended(Object node, boolean slow) {
		Line line = this.lines.get(node);
		if (line != null) {
			line.slow = slow;
		}
		leave(node);
		return next(node);
	}

	private synchronized @Nullable Runnable next(Object node) {
		Line line = this.lines.get(node);
		return (line != null) ? line.next(most(line)) : null;
	}

	/**
	 * How many tasks of a node may run: only others can suffer from one that stalls.
	 */
	private int most(Line line) {
		return (line.slow && this.lines.size() > 1) ? 1 : MOST_OF_A_NODE;
	}

	private synchronized void leave(Object node) {
		this.lines.computeIfPresent(node, (same, line) -> {
			line.running--;
			return (line.running > 0 || line.waiting() > 0) ? line : null;
		});
	}

}
