package io.github.distributedlock.engine;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Queue;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * Runs tasks in the background, those of one node of the store one after the other, so
 * that a node that stalls occupies one worker and delays only its own.
 * <p>
 * Invariants: at most one worker sees to a node. One does while the node has tasks,
 * unless no thread could be had for it: then the next task of the node brings one.
 */
final class NodeTasks {

	private final Map<Object, Queue<Runnable>> queues = new HashMap<>();

	private final Set<Object> seenTo = new HashSet<>();

	private final Workers workers;

	NodeTasks(Workers workers) {
		this.workers = workers;
	}

	/**
	 * Runs a task. If this throws, it does not run; those that others have queued stay.
	 */
	void run(Object node, Runnable task) {
		Undo.ifFails(() -> {
			if (add(node, task)) {
				begin(node);
			}
		}, () -> remove(node, task));
	}

	private void begin(Object node) {
		Undo.ifFails(() -> this.workers.background(() -> work(node)), () -> leave(node));
	}

	private void work(Object node) {
		boolean done = false;
		try {
			for (Runnable task = next(node); task != null; task = next(node)) {
				task.run();
			}
			done = true;
		}
		finally {
			if (!done) {
				begin(node);
			}
		}
	}

	/**
	 * Queues a task.
	 * @return whether a worker is needed
	 */
	private synchronized boolean add(Object node, Runnable task) {
		this.queues.computeIfAbsent(node, (same) -> new ArrayDeque<>()).add(task);
		return this.seenTo.add(node);
	}

	private synchronized @Nullable Runnable next(Object node) {
		Queue<Runnable> queue = this.queues.get(node);
		Runnable task = (queue != null) ? queue.poll() : null;
		if (task == null) {
			this.queues.remove(node);
			leave(node);
		}
		return task;
	}

	private synchronized void remove(Object node, Runnable task) {
		Queue<Runnable> queue = this.queues.get(node);
		if (queue != null && queue.remove(task) && queue.isEmpty()) {
			this.queues.remove(node);
		}
	}

	private synchronized void leave(Object node) {
		this.seenTo.remove(node);
	}

}
