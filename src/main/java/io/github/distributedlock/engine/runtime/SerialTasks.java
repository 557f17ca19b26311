package io.github.distributedlock.engine.runtime;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;

/**
 * Runs tasks elsewhere, those of one group one after the other, so that a group that
 * stalls occupies one thread and delays only its own. If there are fewer threads than
 * groups that stall, the others have their turns between: a group goes behind them after
 * each slow task. A group is a lane of a node, or a listener.
 * <p>
 * Invariants: at most one thread sees to a group. One does while the group has tasks,
 * unless no thread could be had for it: then the next task of the group brings one.
 */
public final class SerialTasks {

	private final Map<Object, Queue<Runnable>> queues = new HashMap<>();

	private final Set<Object> seenTo = new HashSet<>();

	private final Executor threads;

	private final EngineTime time;

	public SerialTasks(Executor threads, EngineTime time) {
		this.threads = threads;
		this.time = time;
	}

	/**
	 * Runs a task. If this throws, it does not run; those that others have queued stay.
	 */
	public void run(Object group, Runnable task) {
		Undo.ifFails(() -> {
			if (add(group, task)) {
				begin(group);
			}
		}, () -> remove(group, task));
	}

	private void begin(Object group) {
		Undo.ifFails(() -> this.threads.execute(() -> work(group)), () -> leave(group));
	}

	private void work(Object group) {
		boolean left = false;
		try {
			while (!left) {
				long begun = this.time.nanoTime();
				left = !runNext(group) || (this.time.nanoTime() - begun > NodeTasks.SLOW && goesBehind(group));
			}
		}
		finally {
			if (!left) {
				begin(group);
			}
		}
	}

	/**
	 * Leaves the group to another turn, or to this one if no thread can be had for it.
	 */
	private boolean goesBehind(Object group) {
		try {
			this.threads.execute(() -> work(group));
			return true;
		}
		catch (OutOfMemoryError noThread) {
			return false;
		}
	}

	private boolean runNext(Object group) {
		Runnable task = next(group);
		if (task != null) {
			task.run();
		}
		return task != null;
	}

	/**
	 * Queues a task.
	 * @return whether a thread is needed
	 */
	private synchronized boolean add(Object group, Runnable task) {
		this.queues.computeIfAbsent(group, (same) -> new ArrayDeque<>()).add(task);
		return this.seenTo.add(group);
	}

	private synchronized @Nullable Runnable next(Object group) {
		Queue<Runnable> queue = this.queues.get(group);
		Runnable task = (queue != null) ? queue.poll() : null;
		if (task == null) {
			this.queues.remove(group);
			leave(group);
		}
		return task;
	}

	private synchronized void remove(Object group, Runnable task) {
		Queue<Runnable> queue = this.queues.get(group);
		if (queue != null && queue.remove(task) && queue.isEmpty()) {
			this.queues.remove(group);
		}
	}

	private synchronized void leave(Object group) {
		this.seenTo.remove(group);
	}

}
