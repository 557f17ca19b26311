package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;

import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.engine.EngineTime.Workers;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repeats in the background what the store may not have heard: that an owner has released
 * a key. Every step checks the owner, so a step does no harm, however often and late.
 * <p>
 * Invariants: at most one sweep is scheduled or under way, and one is while there are
 * tasks. From the engine's end on, when no alarm rings any more, each task is instead
 * tried once on arrival. A sweep leaves a node alone after its first failure there, and
 * the task that failed goes to the end of the queue. So a node that is down is asked once
 * for each pause, however many tasks there are.
 */
final class Sweeper {

	private static final Logger logger = LoggerFactory.getLogger(Sweeper.class);

	private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(100);

	private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(1);

	/**
	 * The number of tasks that are kept at most. Bounds the memory that a long outage
	 * takes, and the work when the store is back.
	 */
	private static final int MOST_TASKS = 10_000;

	private final Queue<Task> tasks = new LinkedBlockingQueue<>(MOST_TASKS);

	private final AtomicBoolean active = new AtomicBoolean();

	/**
	 * True if a task was refused since there was much room.
	 */
	private final AtomicBoolean full = new AtomicBoolean();

	private volatile boolean finished;

	private final LockBackend store;

	private final EngineTime time;

	private final Workers workers;

	Sweeper(LockBackend store, EngineTime time, Workers workers) {
		this.store = store;
		this.time = time;
		this.workers = workers;
	}

	/**
	 * Releases a key, until the store answers or the lease has run out there.
	 * @param parkTime for how much longer the key is to block others, in nanoseconds, or
	 * 0
	 */
	void release(Ownership ownership, long parkTime) {
		long left = ownership.leftOnServer();
		if (left <= 0) {
			return; // The store has freed the key by itself.
		}
		String key = ownership.key();
		String owner = ownership.owner();
		long parkEnd = this.time.nanoTime() + parkTime;
		Task task = new Task(key, owner, (now) -> release(this.store, key, owner, parkEnd - now), 0);
		task.end = this.time.nanoTime() + left;
		add(task);
	}

	/**
	 * Releases a key in the store.
	 * @param parkTime for how much longer the key is to block others, in nanoseconds, or
	 * 0
	 */
	static boolean release(LockBackend store, String key, String owner, long parkTime) {
		// Rounded up, as stores count in milliseconds.
		return (parkTime > 0)
				? store.leaveToExpire(key, owner, Duration.ofMillis(TimeUnit.NANOSECONDS.toMillis(parkTime) + 1))
				: store.release(key, owner);
	}

	/**
	 * Undoes an acquire whose outcome is not known, and which the server may still carry
	 * out. The undoing is repeated until one lease after the first answer.
	 */
	void cleanUp(Claim claim) {
		forget(claim, claim.lease().toNanos());
	}

	/**
	 * Undoes a claim that was answered, until the store answers the undoing, too.
	 */
	void forget(Claim claim) {
		forget(claim, 0);
	}

	private void forget(Claim claim, long settling) {
		add(new Task(claim.key(), claim.owner(), (now) -> this.store.forget(claim), settling));
	}

	/**
	 * Tries every task once more, since there will be no other time. Tasks that come
	 * later are tried once as well, such as those of a request that notices the end late.
	 */
	void finish() {
		this.finished = true;
		this.workers.background(this::sweep);
	}

	private void add(Task task) {
		if (!this.tasks.offer(task) && !this.full.getAndSet(true)) {
			logger.warn(
					"Lock '{}' of {}, and others after it, may stay in the store until their leases have run out"
							+ " there, since {} locks are waiting to be released already",
					LockException.printable(task.key), task.owner, MOST_TASKS);
		}
		if (this.finished) {
			this.workers.background(this::sweep);
		}
		else {
			start(0);
		}
	}

	private void start(long delay) {
		if (this.active.compareAndSet(false, true)) {
			Failures.orUndo(() -> this.time.schedule(this::startSweep, delay), () -> this.active.set(false));
		}
	}

	private void startSweep() {
		Failures.orUndo(() -> this.workers.background(this::sweep), () -> {
			this.active.set(false);
			start(PAUSE);
		});
	}

	private void sweep() {
		boolean last = this.finished;
		try {
			Set<Object> down = new HashSet<>();
			for (Task task : List.copyOf(this.tasks)) {
				long now = this.time.nanoTime();
				boolean done = task.end != null && now - task.end >= 0;
				if (last || done) {
					this.tasks.remove(task);
				}
				boolean due = last || task.pause == 0 || now - task.due >= 0;
				if (!done && due && !runUnlessDown(task, down) && !last) {
					this.tasks.remove(task);
					add(task);
				}
			}
		}
		finally {
			this.active.set(false);
			if (this.tasks.size() < MOST_TASKS / 2) {
				this.full.set(false);
			}
			if (!this.tasks.isEmpty() && !last) {
				start(PAUSE);
			}
		}
	}

	/**
	 * Runs a task, unless another has failed at its node.
	 * @return {@code false} if the task failed
	 */
	private boolean runUnlessDown(Task task, Set<Object> down) {
		Object node = NodeTasks.node(this.store, task.key);
		if (down.contains(node)) {
			return true;
		}
		boolean answered = false;
		try {
			task.step.accept(this.time.nanoTime());
			answered = true;
		}
		catch (RuntimeException | Error ex) { // An error must not cost all later tasks.
			logger.debug("Could not release lock '{}' of {} yet", LockException.printable(task.key), task.owner, ex);
			down.add(node);
		}
		task.ran(this.time.nanoTime(), answered);
		return answered;
	}

	/**
	 * One owner-checked release that the store may not have heard. Its schedule is
	 * confined to the sweep, but for a last try at the engine's end, after which nothing
	 * counts.
	 */
	private static final class Task {

		private final String key;

		private final String owner;

		private final LongConsumer step;

		/**
		 * For how long the task is repeated after the first answer, in nanoseconds.
		 */
		private final long settling;

		/**
		 * When the task need not be run any more; {@code null} if not known before the
		 * first answer.
		 */
		private @Nullable Long end;

		private long due;

		private long pause;

		/**
		 * Creates a task that is due at once.
		 * @param step is given the present time
		 */
		Task(String key, String owner, LongConsumer step, long settling) {
			this.key = key;
			this.owner = owner;
			this.step = step;
			this.settling = settling;
		}

		void ran(long now, boolean answered) {
			if (answered && (this.end == null || this.settling == 0)) {
				this.end = now + this.settling;
			}
			this.pause = Math.max(PAUSE, Math.min(2 * this.pause, LONGEST_PAUSE));
			this.due = now + this.pause;
		}

	}

}
