package io.github.distributedlock.engine.runtime;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;

/**
 * Runs tasks that ask a node of the store, on few threads that all nodes share: a node
 * that stalls occupies at most half of them, and delays only its own tasks. Those of one
 * node begin in order. Safe for use by many threads.
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

		private final Queue<Runnable> waiting = new ArrayDeque<>();

	}

	private final Map<Object, Line> lines = new HashMap<>();

	private final Executor threads;

	public NodeTasks(Executor threads) {
		this.threads = threads;
	}

	/**
	 * Runs a task as soon as its node allows. If this throws, it does not run.
	 */
	public void run(Object node, Runnable task) {
		if (mayBegin(node, task)) {
			Undo.ifFails(() -> begin(node, task), () -> ended(node));
		}
	}

	/**
	 * Whether a task of the node would have to wait for others now.
	 */
	public synchronized boolean isFull(Object node) {
		Line line = this.lines.get(node);
		return line != null && line.running == MOST_OF_A_NODE;
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

	private synchronized boolean mayBegin(Object node, Runnable task) {
		Line line = this.lines.computeIfAbsent(node, (first) -> new Line());
		boolean begins = line.running < MOST_OF_A_NODE;
		if (begins) {
			line.running++;
		}
		else {
			line.waiting.add(task);
		}
		return begins;
	}

	private synchronized @Nullable Runnable next(Object node) {
		Line line = this.lines.get(node);
		Runnable next = (line != null) ? line.waiting.poll() : null;
		if (next == null) {
			ended(node);
		}
		return next;
	}

	private synchronized void ended(Object node) {
		this.lines.computeIfPresent(node, (same, line) -> {
			line.running--;
			return (line.running > 0 || !line.waiting.isEmpty()) ? line : null;
		});
	}

}
