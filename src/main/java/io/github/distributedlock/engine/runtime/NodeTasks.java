package io.github.distributedlock.engine.runtime;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;

/**
 * Runs tasks that ask a node of the store, on few threads that all nodes share: a node
 * that stalls occupies at most half of them, and delays only its own tasks. Safe for use
 * by many threads.
 * <p>
 * There are two kinds of tasks, those that begin something and those that resume it.
 * Those of one kind and one node begin in order; where both wait, one of each kind in
 * turn, so that a burst of the one does not delay the other.
 * <p>
 * Invariants: a node has a line exactly while it has tasks. One waits in it only if
 * {@link #MOST_OF_A_NODE} others were running, or were about to; each that ends lets the
 * next one begin, behind those of other nodes. If all of these got no thread, the next
 * task of the node brings one.
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
	 * The tasks of one node.
	 */
	private static final class Line {

		private int running;

		private final Queue<Runnable> beginning = new ArrayDeque<>(1);

		private final Queue<Runnable> resuming = new ArrayDeque<>(1);

		private boolean resumed;

		int waiting() {
			return this.beginning.size() + this.resuming.size();
		}

		@Nullable Runnable poll() {
			this.resumed = !this.resuming.isEmpty() && (!this.resumed || this.beginning.isEmpty());
			return (this.resumed ? this.resuming : this.beginning).poll();
		}

	}

	private final Map<Object, Line> lines = new HashMap<>();

	private final Executor threads;

	public NodeTasks(Executor threads) {
		this.threads = threads;
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
			Undo.ifFails(() -> begin(node, task), () -> ended(node));
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
			try {
				task.run();
			}
			finally {
				goOn(node);
			}
		});
	}

	/**
	 * Lets the next task begin in the place of one that has ended; on this thread if no
	 * other can be had.
	 */
	private void goOn(Object node) {
		Runnable next = next(node);
		while (next != null) {
			try {
				begin(node, next);
				return;
			}
			catch (OutOfMemoryError noThread) {
				next.run();
				next = next(node);
			}
		}
	}

	private synchronized boolean mayBegin(Object node, Runnable task, boolean resumes) {
		Line line = this.lines.computeIfAbsent(node, (first) -> new Line());
		boolean begins = line.running < MOST_OF_A_NODE;
		if (begins) {
			line.running++;
		}
		else {
			(resumes ? line.resuming : line.beginning).add(task);
		}
		return begins;
	}

	private synchronized @Nullable Runnable next(Object node) {
		Line line = this.lines.get(node);
		Runnable next = (line != null) ? line.poll() : null;
		if (next == null) {
			ended(node);
		}
		return next;
	}

	private synchronized void ended(Object node) {
		this.lines.computeIfPresent(node, (same, line) -> {
			line.running--;
			return (line.running > 0 || line.waiting() > 0) ? line : null;
		});
	}

}
