package io.github.distributedlock.engine.lease;

import java.util.HashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.engine.runtime.EngineTime;
import io.github.distributedlock.engine.runtime.Nodes;
import io.github.distributedlock.engine.runtime.Store;
import io.github.distributedlock.engine.runtime.Undo;
import io.github.distributedlock.engine.runtime.Workers;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the store in the background what it may not have heard: that an owner has given a
 * key back. Every step checks the owner, so it does no harm, however often and late.
 * <p>
 * Invariants: at most one sweep is scheduled or under way, and one is while there are
 * tasks; but from the engine's end on, when no alarm rings any more, each task is tried
 * once when it comes. A sweep leaves a node alone after its first failure there, and the
 * task that failed goes to the end, so that a node that is down is asked once for each
 * pause, however many tasks there are.
 */
public final class Sweeper {

	private static final Logger logger = LoggerFactory.getLogger(Sweeper.class);

	private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(100);

	/**
	 * Bounds the memory, and the work when the store is back, of a long outage.
	 */
	private static final int MOST_TASKS = 10_000;

	private final Queue<CleanUpTask> tasks = new LinkedBlockingQueue<>(MOST_TASKS);

	private final AtomicBoolean active = new AtomicBoolean();

	private volatile boolean finished;

	/**
	 * Whether it was said already that there is no more room.
	 */
	private final AtomicBoolean full = new AtomicBoolean();

	private final Store store;

	private final Nodes nodes;

	private final EngineTime time;

	private final Workers workers;

	public Sweeper(Store store, EngineTime time, Workers workers) {
		this.store = store;
		this.nodes = new Nodes(store.backend());
		this.time = time;
		this.workers = workers;
	}

	/**
	 * Releases a key, until the store answers or its lease has run out there.
	 * @param rest for how much longer it is to block others, or 0
	 */
	public void release(Ownership ownership, long rest) {
		long now = this.time.nanoTime();
		add(new CleanUpTask(ownership.key(), ownership.owner(), rest, now, now + ownership.leftOnServer()));
	}

	/**
	 * Undoes an acquire whose outcome is not known, and which the server may still carry
	 * out: until one lease after the first answer.
	 */
	public void cleanUp(Claim claim) {
		add(new CleanUpTask(claim, this.time.nanoTime(), claim.lease().toNanos()));
	}

	/**
	 * Undoes a claim that was answered, until the store answers this, too.
	 */
	public void forget(Claim claim) {
		add(new CleanUpTask(claim, this.time.nanoTime(), 0));
	}

	/**
	 * Undoes what was sent for an ownership and never answered, once it has ended.
	 */
	public void cleanUp(Ownership ownership) {
		String owner = ownership.owner();
		cleanUp(ownership.options().claim(ownership.key(), owner, Claim.instanceOf(owner)));
	}

	/**
	 * Tries every task once more, since there will be no other time; and so for those
	 * that come later, as of a request that notices the end late.
	 */
	public void finish() {
		this.finished = true;
		this.workers.background(this::tryEachOnce);
	}

	private void tryEachOnce() {
		Set<Object> down = new HashSet<>();
		for (CleanUpTask task = this.tasks.poll(); task != null; task = this.tasks.poll()) {
			runUnlessDown(task, down);
		}
	}

	private void add(CleanUpTask task) {
		if (this.tasks.offer(task)) {
			this.full.set(false);
		}
		else if (this.full.compareAndSet(false, true)) {
			logger.warn(
					"Lock '{}' of {}, and others, may stay in the store until their leases have run out there,"
							+ " since {} locks are waiting to be released already",
					LockException.printable(task.key), task.owner, MOST_TASKS);
		}
		if (this.finished) {
			this.workers.background(this::tryEachOnce);
		}
		else {
			start(0);
		}
	}

	private void start(long delay) {
		if (this.active.compareAndSet(false, true)) {
			Undo.ifFails(() -> this.time.schedule(this::startSweep, delay), () -> this.active.set(false));
		}
	}

	private void startSweep() {
		Undo.ifFails(() -> this.workers.background(this::sweep), () -> {
			this.active.set(false);
			start(PAUSE);
		});
	}

	private void sweep() {
		try {
			this.tasks.removeIf((task) -> task.isDone(this.time.nanoTime()));
			Set<Object> down = new HashSet<>();
			for (CleanUpTask task : this.tasks) {
				if (task.isDue(this.time.nanoTime()) && !runUnlessDown(task, down)) {
					this.tasks.remove(task);
					add(task);
				}
			}
		}
		finally {
			this.active.set(false);
			if (!this.tasks.isEmpty()) {
				start(PAUSE);
			}
		}
	}

	/**
	 * Runs a task, unless another has failed at its node.
	 * @return {@code false} if it failed
	 */
	private boolean runUnlessDown(CleanUpTask task, Set<Object> down) {
		Object node = this.nodes.of(task.key);
		if (down.contains(node) || run(task)) {
			return true;
		}
		down.add(node);
		return false;
	}

	private boolean run(CleanUpTask task) {
		try {
			task.run(this.store, this.time.nanoTime());
			task.answered(this.time.nanoTime());
			return true;
		}
		catch (RuntimeException ex) {
			logger.debug("Could not release lock '{}' of {} yet", LockException.printable(task.key), task.owner, ex);
			task.postpone(this.time.nanoTime());
			return false;
		}
	}

}
