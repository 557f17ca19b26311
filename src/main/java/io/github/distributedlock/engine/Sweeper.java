package io.github.distributedlock.engine;

import java.util.HashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.LockBackend;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the store in the background what it may not have heard: that an owner has given a
 * key back. Every step checks the owner, so it does no harm, however often and late.
 * <p>
 * Invariants: at most one sweep is scheduled or under way, and one is while there are
 * errands. A sweep leaves a node alone after its first failure there, and the errand that
 * failed goes to the end, so that a node that is down is asked once for each pause,
 * however many errands there are.
 */
final class Sweeper {

	private static final Logger logger = LoggerFactory.getLogger(LockEngine.class);

	private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(100);

	/**
	 * Bounds the memory, and the work when the store is back, of a long outage.
	 */
	private static final int MOST_ERRANDS = 10_000;

	private final Queue<Errand> errands = new LinkedBlockingQueue<>(MOST_ERRANDS);

	private final AtomicBoolean active = new AtomicBoolean();

	/**
	 * Whether it was said already that there is no more room.
	 */
	private final AtomicBoolean full = new AtomicBoolean();

	private final LockBackend backend;

	private final Nodes nodes;

	private final EngineTime time;

	private final Workers workers;

	Sweeper(LockBackend backend, EngineTime time, Workers workers) {
		this.backend = backend;
		this.nodes = new Nodes(backend);
		this.time = time;
		this.workers = workers;
	}

	/**
	 * Releases a key, until the store answers or its lease has run out there.
	 * @param rest for how much longer it is to block others, or 0
	 */
	void release(Tenure tenure, long rest) {
		long now = this.time.nanoTime();
		add(new Errand(tenure.key, tenure.owner, rest, now, now + tenure.leftOnServer(), 0));
	}

	/**
	 * Undoes an acquire whose outcome is not known, and which the server may still carry
	 * out: until one lease after the first answer.
	 */
	void cleanUp(String key, String owner, long lease) {
		add(new Errand(key, owner, 0, this.time.nanoTime(), null, lease));
	}

	/**
	 * Undoes what was sent for a tenure and never answered, once it has ended.
	 */
	void cleanUp(Tenure tenure) {
		cleanUp(tenure.key, tenure.owner, tenure.terms.lease());
	}

	/**
	 * Tries every errand once more, since there will be no other time.
	 */
	void finish() {
		this.workers.background(() -> {
			Set<Object> down = new HashSet<>();
			for (Errand errand : this.errands) {
				runUnlessDown(errand, down);
			}
		});
	}

	private void add(Errand errand) {
		if (this.errands.offer(errand)) {
			this.full.set(false);
		}
		else if (this.full.compareAndSet(false, true)) {
			logger.warn(
					"Lock '{}' of {}, and others, may stay in the store until their leases have run out there,"
							+ " since {} locks are waiting to be released already",
					LockException.printable(errand.key), errand.owner, MOST_ERRANDS);
		}
		start(0);
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
			this.errands.removeIf((errand) -> errand.isDone(this.time.nanoTime()));
			Set<Object> down = new HashSet<>();
			for (Errand errand : this.errands) {
				if (errand.isDue(this.time.nanoTime()) && !runUnlessDown(errand, down)) {
					this.errands.remove(errand);
					add(errand);
				}
			}
		}
		finally {
			this.active.set(false);
			if (!this.errands.isEmpty()) {
				start(PAUSE);
			}
		}
	}

	/**
	 * Runs an errand, unless another has failed at its node.
	 * @return {@code false} if it failed
	 */
	private boolean runUnlessDown(Errand errand, Set<Object> down) {
		Object node = this.nodes.of(errand.key);
		if (down.contains(node) || run(errand)) {
			return true;
		}
		down.add(node);
		return false;
	}

	private boolean run(Errand errand) {
		try {
			Releaser.tell(this.backend, errand.key, errand.owner, errand.restAt(this.time.nanoTime()));
			errand.answered(this.time.nanoTime());
			return true;
		}
		catch (RuntimeException ex) {
			logger.debug("Could not release lock '{}' of {} yet", LockException.printable(errand.key), errand.owner,
					ex);
			errand.postpone(this.time.nanoTime());
			return false;
		}
	}

}
