package io.github.distributedlock.engine;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

import io.github.distributedlock.EngineSnapshot;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.engine.EngineTime.Workers;
import io.github.distributedlock.engine.Lease.Moment;
import org.jspecify.annotations.Nullable;

/**
 * Renews leases a third of their length after the last renewal at the latest, and
 * declares keys lost whose lease has run out.
 * <p>
 * Invariants: an ownership is guarded from before its acquire returns until before its
 * release is sent. One alarm is set for the earliest moment at which a guarded ownership
 * needs anything. The alarm may ring earlier than needed, never later. The alarm only
 * sorts out what is due. The renewal workers send the commands, one round at a time for
 * each node, so that a node that stalls delays no leases of other nodes, and no deadline.
 */
final class Watchdog {

	/**
	 * A suspended machine is noticed so soon after the machine is resumed.
	 */
	private static final long LONGEST_DELAY = TimeUnit.SECONDS.toNanos(1);

	private final Set<Ownership> guarded = ConcurrentHashMap.newKeySet();

	private final Set<Object> busyNodes = ConcurrentHashMap.newKeySet();

	private final LockBackend backend;

	/**
	 * Renews leases that are due on one node, and plans what comes next.
	 */
	private final Consumer<List<Ownership>> renewal;

	/**
	 * Declares a key lost whose lease is over.
	 */
	private final BiConsumer<Ownership, Reason> loss;

	private final EngineTime time;

	private final Workers workers;

	private final ReentrantLock mutex = new ReentrantLock();

	/** The store may have forgotten what was sent before this time. */
	private volatile long doubtedAt;

	/** Cancels the alarm that is set. */
	private @Nullable Runnable cancelAlarm;

	private long alarmAt;

	private long alarmNumber;

	/**
	 * Creates a watchdog.
	 * @param renewal renews leases that are due on one node
	 * @param loss declares a key lost whose lease is over
	 */
	Watchdog(LockBackend backend, Consumer<List<Ownership>> renewal, BiConsumer<Ownership, Reason> loss,
			EngineTime time, Workers workers) {
		this.backend = backend;
		this.renewal = renewal;
		this.loss = loss;
		this.time = time;
		this.workers = workers;
		this.doubtedAt = time.nanoTime();
	}

	/**
	 * Renews a key's lease from now on, and declares the key lost when the lease is over.
	 */
	void guard(Ownership ownership) {
		this.guarded.add(ownership);
		try {
			this.workers.prepareRenewals();
			setAlarm(ownership.lease().toRenewal(this.time.nanoTime()));
		}
		catch (Throwable ex) { // One cause is that no thread can be had.
			unguard(ownership);
			throw ex;
		}
	}

	void unguard(Ownership ownership) {
		this.guarded.remove(ownership);
	}

	/**
	 * Renews all guarded leases at once, since the store may have forgotten them: a key
	 * that the store does not have is lost. Fixed leases are renewed, too, for as long as
	 * they still last. An answer that is under way does not count.
	 */
	void renewAll() {
		this.doubtedAt = this.time.nanoTime();
		setAlarm(0);
	}

	/**
	 * Describes all guarded holds to users.
	 */
	List<EngineSnapshot.Hold> describe() {
		Moment now = Moment.now(this.time);
		return this.guarded.stream()
			.filter((ownership) -> ownership.isOwned() && !ownership.isKept())
			.map(Ownership::hold)
			.filter(Hold.class::isInstance)
			.map(Hold.class::cast)
			.map((hold) -> hold.describe(now))
			.toList();
	}

	/**
	 * Returns how many keys are guarded, without describing them.
	 */
	int count() {
		return this.guarded.size();
	}

	List<Ownership> guarded() {
		return List.copyOf(this.guarded);
	}

	private void setAlarm(long delay) {
		this.mutex.lock();
		try {
			long at = this.time.nanoTime() + Math.max(0, Math.min(delay, LONGEST_DELAY));
			if (this.cancelAlarm != null) {
				if (at - this.alarmAt >= 0) {
					return;
				}
				this.cancelAlarm.run();
				this.cancelAlarm = null; // The field is cleared even if no other alarm
											// can be set now.
			}
			this.alarmAt = at;
			long number = ++this.alarmNumber;
			this.cancelAlarm = this.time.schedule(() -> ring(number), at - this.time.nanoTime());
		}
		finally {
			this.mutex.unlock();
		}
	}

	private void ring(long number) {
		if (!clearAlarm(number)) {
			return;
		}
		Map<Object, List<Ownership>> due = new HashMap<>();
		// The delay if collecting fails: this alarm must not be the last.
		long delay = LONGEST_DELAY / 10;
		try {
			delay = collectDue(due);
		}
		finally {
			if (!this.guarded.isEmpty()) {
				setAlarm(delay);
				this.workers.prepareRenewals();
			}
		}
		due.forEach(this::renew);
	}

	/**
	 * Takes note that an alarm has rung.
	 * @return {@code false} if the alarm was cancelled too late, so that another one is
	 * set
	 */
	private boolean clearAlarm(long number) {
		this.mutex.lock();
		try {
			boolean valid = number == this.alarmNumber;
			this.cancelAlarm = valid ? null : this.cancelAlarm;
			return valid;
		}
		finally {
			this.mutex.unlock();
		}
	}

	/**
	 * Declares keys lost whose lease is over. Finds the leases to renew on each node
	 * where any is due: those that are due, and those that are nearly due.
	 * @return how long nothing else needs to be done, in nanoseconds
	 */
	private long collectDue(Map<Object, List<Ownership>> due) {
		Moment now = Moment.now(this.time);
		long delay = LONGEST_DELAY;
		Set<Object> nodes = new HashSet<>();
		for (Ownership ownership : this.guarded) {
			Ownership.Plan plan = ownership.plan();
			if (plan.isExpired(now)) {
				this.loss.accept(ownership, ownership.expiryReason());
			}
			if (!ownership.isOwned()) {
				this.guarded.remove(ownership);
				continue;
			}
			boolean isDue = plan.isDue(now, this.doubtedAt);
			if (isDue || plan.isNearlyDue(now)) {
				Object node = NodeTasks.node(this.backend, ownership.key());
				due.computeIfAbsent(node, (first) -> new ArrayList<>()).add(ownership);
				if (isDue) {
					nodes.add(node);
				}
			}
			delay = Math.min(delay, isDue ? ownership.lease().monotonicLeft(now) : plan.nanosToNextEvent(now));
		}
		due.keySet().retainAll(nodes);
		return delay;
	}

	private void renew(Object node, List<Ownership> due) {
		if (this.busyNodes.add(node)) {
			due.forEach((ownership) -> ownership.plan().begin());
			Failures.orUndo(() -> this.workers.renewal(() -> {
				try {
					this.renewal.accept(due);
				}
				finally {
					end(node, due);
				}
			}), () -> end(node, due));
		}
	}

	private void end(Object node, List<Ownership> round) {
		long now = this.time.nanoTime();
		round.forEach((ownership) -> ownership.plan().retryUnlessEnded(now));
		this.busyNodes.remove(node);
		setAlarm(0);
	}

}
