package io.github.distributedlock.engine;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.distributedlock.backend.LockBackend;
import org.jspecify.annotations.Nullable;

/**
 * Runs tasks that ask a node of the store, on few threads that all nodes share, so that
 * no node delays the tasks of another. A node occupies a part of the threads at most. A
 * node stalls if its last task was slow. A node that stalls occupies one thread as soon
 * as the other tasks of the node have ended, if there are tasks of other nodes. So five
 * nodes may stall, and the others still have a thread. Two nodes that begin to stall at
 * the same time occupy all threads once, for as long as their commands take; and once
 * more after each moment in which nothing was asked of them. A call of a listener is a
 * task of that listener instead. Safe for use by many threads.
 * <p>
 * There are two kinds of tasks: one begins something, the other resumes what was begun.
 * Tasks of one kind and one node begin in order. Where both kinds wait, one task of each
 * kind begins in turn, so that a burst of the one does not delay the other.
 * <p>
 * Invariants: a node has a line exactly while it has tasks. A task waits in the line only
 * if as many others were running as may, or were about to. Each task that ends lets the
 * next ones begin, behind those of other nodes. If none of these got a thread, the next
 * task of the node brings one.
 */
final class NodeTasks {

	/**
	 * The number of threads that all nodes share.
	 */
	static final int THREADS = 6;

	/**
	 * The number of threads that one node may occupy.
	 */
	static final int MOST_OF_A_NODE = THREADS / 2;

	/**
	 * A task that takes longer, in nanoseconds, makes its node one that stalls. The time
	 * is more than the farthest network and a pause of the JVM take, and less than the
	 * time in which a command is usually given up.
	 */
	private static final long SLOW = TimeUnit.MILLISECONDS.toNanos(250);

	/**
	 * The tasks of one node.
	 */
	private static final class Line {

		private int running;

		/**
		 * True if the last task that has ended was slow.
		 */
		private boolean slow;

		private final Deque<Runnable> beginning = new ArrayDeque<>(1);

		private final Deque<Runnable> resuming = new ArrayDeque<>(1);

		private boolean resumed;

		private int waiting() {
			return this.beginning.size() + this.resuming.size();
		}

		/**
		 * Takes the next task; {@code null} if none may begin.
		 */
		private @Nullable Runnable next(int most) {
			if (this.running >= most || waiting() == 0) {
				return null;
			}
			this.resumed = !this.resuming.isEmpty() && (!this.resumed || this.beginning.isEmpty());
			this.running++;
			return (this.resumed ? this.resuming : this.beginning).poll();
		}

	}

	private final Map<Object, Line> lines = new HashMap<>();

	private final Executor threads;

	private final EngineTime time;

	private final int most;

	NodeTasks(Executor threads, EngineTime time) {
		this(threads, time, MOST_OF_A_NODE);
	}

	/**
	 * Creates tasks of which a node may occupy the given number of threads.
	 * @param most how many tasks of a node may run at a time
	 */
	NodeTasks(Executor threads, EngineTime time, int most) {
		this.threads = threads;
		this.time = time;
		this.most = most;
	}

	/**
	 * Returns the node of a key: a part of the store that may stall, and then harms no
	 * keys of other nodes.
	 */
	static Object node(LockBackend store, String key) {
		try {
			return store.node(key);
		}
		catch (RuntimeException ex) {
			return key; // The key is then a node alone, and so costs no other key.
		}
	}

	/**
	 * Groups objects by the nodes of their keys.
	 */
	static <T> Map<Object, List<T>> byNode(LockBackend store, Collection<T> all, Function<T, String> key) {
		return all.stream()
			.collect(Collectors.groupingBy((one) -> node(store, key.apply(one)), LinkedHashMap::new,
					Collectors.toList()));
	}

	/**
	 * Runs a task that begins something, as soon as the node allows. If this method
	 * throws, the task does not run; tasks that others have added stay.
	 */
	void run(Object node, Runnable task) {
		run(node, task, false);
	}

	/**
	 * Runs a task that goes on with something that was begun: others may wait for that.
	 */
	void resume(Object node, Runnable task) {
		run(node, task, true);
	}

	private void run(Object node, Runnable task, boolean resumes) {
		Runnable next = add(node, task, resumes);
		if (next != null) {
			try {
				begin(node, next);
			}
			catch (RuntimeException | Error noThread) {
				if (remove(node, task, next)) {
					throw noThread;
				}
			}
		}
	}

	/**
	 * Returns how many tasks of the node wait now for others to end.
	 */
	synchronized int waiting(Object node) {
		Line line = this.lines.get(node);
		return (line != null) ? line.waiting() : 0;
	}

	/**
	 * Gives a task to the threads. The executor may have queued the task although the
	 * call fails, and run the task later on some thread: this method fails only if nobody
	 * has begun the task by then.
	 */
	private void begin(Object node, Runnable task) {
		AtomicBoolean begun = new AtomicBoolean();
		try {
			this.threads.execute(() -> {
				if (!begun.getAndSet(true)) {
					work(node, task);
				}
			});
		}
		catch (RuntimeException | Error noThread) {
			if (!begun.getAndSet(true)) {
				throw noThread;
			}
		}
	}

	/**
	 * Runs a task, and lets the next ones begin in its place. They run on this thread if
	 * no other can be had.
	 */
	private void work(Object node, Runnable first) {
		Runnable task = first;
		while (task != null) {
			long begun = this.time.nanoTime();
			Failures.run(task, () -> "A task in the background");
			task = beginNext(node, end(node, this.time.nanoTime() - begun > SLOW));
		}
	}

	/**
	 * Lets tasks begin.
	 * @return the first task for which there is no thread
	 */
	private @Nullable Runnable beginNext(Object node, @Nullable Runnable first) {
		Runnable next = first;
		try {
			for (; next != null; next = next(node)) {
				begin(node, next);
			}
		}
		catch (OutOfMemoryError noThread) {
			// The caller's thread runs the task.
		}
		return next;
	}

	private synchronized @Nullable Runnable add(Object node, Runnable task, boolean resumes) {
		Line line = this.lines.computeIfAbsent(node, (first) -> new Line());
		(resumes ? line.resuming : line.beginning).add(task);
		return line.next(most(line));
	}

	/**
	 * Takes back a task, since the next one of the node got no thread.
	 * @return {@code false} if another thread has begun the task already
	 */
	private synchronized boolean remove(Object node, Runnable task, Runnable next) {
		Line line = Objects.requireNonNull(this.lines.get(node));
		boolean removed = next == task;
		if (!removed) { // The next one is left over from when there was no thread either.
			removed = line.beginning.remove(task) || line.resuming.remove(task);
			(line.resumed ? line.resuming : line.beginning).addFirst(next);
		}
		leave(node, line);
		return removed;
	}

	private synchronized @Nullable Runnable end(Object node, boolean slow) {
		Line line = this.lines.get(node);
		if (line != null) {
			line.slow = slow;
			leave(node, line);
		}
		return next(node);
	}

	private synchronized @Nullable Runnable next(Object node) {
		Line line = this.lines.get(node);
		return (line != null) ? line.next(most(line)) : null;
	}

	/**
	 * Returns how many tasks of a node may run: only other nodes can suffer from one that
	 * stalls.
	 */
	private int most(Line line) {
		return (line.slow && this.lines.size() > 1) ? 1 : this.most;
	}

	private void leave(Object node, Line line) {
		line.running--;
		if (line.running == 0 && line.waiting() == 0) {
			this.lines.remove(node);
		}
	}

}
