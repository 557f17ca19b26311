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
 * Runs tasks that ask a node of the store, on few threads that all nodes share, so that a
 * node delays only its own tasks. A node occupies a part of the threads at most. A node
 * that stalls, which is one whose last task was slow, occupies one thread as soon as its
 * other tasks have ended, if there are tasks of other nodes. So five nodes may stall, and
 * the others still have a thread. Two nodes that begin to stall at the same time occupy
 * all threads for as long as their commands take, once; and once more after each moment
 * in which nothing was asked of them. A call of a listener is a task of that listener
 * instead. Safe for use by many threads.
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
final class NodeTasks {

	/**
	 * How many threads there are to be.
	 */
	static final int THREADS = 6;

	/**
	 * How many of them one node may occupy.
	 */
	static final int MOST_OF_A_NODE = THREADS / 2;

	/**
	 * A task that takes longer, in nanoseconds, is one of a node that stalls: more than
	 * the farthest network and a pause of the JVM, less than the time in which a command
	 * is usually given up.
	 */
	private static final long SLOW = TimeUnit.MILLISECONDS.toNanos(250);

	/**
	 * The tasks of one node.
	 */
	private static final class Line {

		private int running;

		/**
		 * Whether the last task that has ended was slow.
		 */
		private boolean slow;

		private final Deque<Runnable> beginning = new ArrayDeque<>(1);

		private final Deque<Runnable> resuming = new ArrayDeque<>(1);

		private boolean resumed;

		private int waiting() {
			return this.beginning.size() + this.resuming.size();
		}

		/**
		 * The next task, if it may begin.
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
	 * Creates one.
	 * @param most how many tasks of a node may run at a time
	 */
	NodeTasks(Executor threads, EngineTime time, int most) {
		this.threads = threads;
		this.time = time;
		this.most = most;
	}

	/**
	 * The node of a key: a part of the store that may stall, and then harms only its own
	 * keys.
	 */
	static Object node(LockBackend store, String key) {
		try {
			return store.node(key);
		}
		catch (RuntimeException ex) {
			return key; // Alone on its node, so that it costs no other.
		}
	}

	/**
	 * Sorts what concerns keys by their nodes.
	 */
	static <T> Map<Object, List<T>> byNode(LockBackend store, Collection<T> all, Function<T, String> key) {
		return all.stream()
			.collect(Collectors.groupingBy((one) -> node(store, key.apply(one)), LinkedHashMap::new,
					Collectors.toList()));
	}

	/**
	 * Runs a task that begins something, as soon as its node allows. If this throws, it
	 * does not run; those that others have added stay.
	 */
	void run(Object node, Runnable task) {
		run(node, task, false);
	}

	/**
	 * Runs a task that goes on with what was begun: others may wait for that.
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
	 * How many tasks of the node wait now for others to end.
	 */
	synchronized int waiting(Object node) {
		Line line = this.lines.get(node);
		return (line != null) ? line.waiting() : 0;
	}

	/**
	 * Gives a task to the threads. They may have queued it although this fails, and run
	 * it when they find a thread: only if nobody has begun it by then, it fails.
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
	 * Runs a task, and lets the next ones begin in its place; on this thread if no other
	 * can be had.
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
	 * @return the first one for which there is no thread
	 */
	private @Nullable Runnable beginNext(Object node, @Nullable Runnable first) {
		Runnable next = first;
		try {
			for (; next != null; next = next(node)) {
				begin(node, next);
			}
		}
		catch (OutOfMemoryError noThread) {
			// The caller's thread is one.
		}
		return next;
	}

	private synchronized @Nullable Runnable add(Object node, Runnable task, boolean resumes) {
		Line line = this.lines.computeIfAbsent(node, (first) -> new Line());
		(resumes ? line.resuming : line.beginning).add(task);
		return line.next(most(line));
	}

	/**
	 * Takes back a task, since the next one of its node got no thread.
	 * @return {@code false} if it is too late, since another thread has begun it
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
	 * How many tasks of a node may run: only others can suffer from one that stalls.
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
