package io.github.distributedlock.engine;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;

import org.jspecify.annotations.Nullable;

/**
 * Runs tasks in the background, those of one node of the store one after the other, so
 * that a node that stalls occupies one worker and delays only its own.
 * <p>
 * Invariant: a node has a queue while, and only while, a worker sees to it.
 */
final class NodeTasks {

	private final Map<Object, Queue<Runnable>> queues = new HashMap<>();

	private final Workers workers;

	NodeTasks(Workers workers) {
		this.workers = workers;
	}

	void run(Object node, Runnable task) {
		if (add(node, task)) {
			begin(node);
		}
	}

	private void begin(Object node) {
		Undo.ifFails(() -> this.workers.background(() -> work(node)), () -> forget(node));
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

	private synchronized boolean add(Object node, Runnable task) {
		boolean first = !this.queues.containsKey(node);
		this.queues.computeIfAbsent(node, (same) -> new ArrayDeque<>()).add(task);
		return first;
	}

	private synchronized @Nullable Runnable next(Object node) {
		Queue<Runnable> queue = this.queues.get(node);
		Runnable task = (queue != null) ? queue.poll() : null;
		if (task == null) {
			forget(node);
		}
		return task;
	}

	private synchronized void forget(Object node) {
		this.queues.remove(node);
	}

}
