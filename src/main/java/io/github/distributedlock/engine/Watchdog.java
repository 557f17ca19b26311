package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import io.github.distributedlock.EngineSnapshot;
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

	private final Consumer<List<Ownership>> round;

	private final Leases leases;

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
	 * @param round renews what is due on one node, and plans what comes next
	 */
	Watchdog(LockBackend backend, Consumer<List<Ownership>> round, Leases leases, EngineTime time, Workers workers) {
		this.backend = backend;
		this.round = round;
		this.leases = leases;
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
			.filter(Objects::nonNull)
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
			Plan plan = ownership.plan();
			if (plan.isExpired(now)) {
				this.leases.declare(ownership, ownership.expiryReason());
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
					this.round.accept(due);
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

	/**
	 * When a guarded ownership is to be renewed next. Plans are written by one round at a
	 * time, and by a request whose keys are renewed before they are handed out: each plan
	 * is written whole, and the later one counts. Either plan is right, since the store
	 * has confirmed the lease from when its command was sent, or is asked again soon.
	 */
	static final class Plan {

		private static final long SHORTEST_RETRY = TimeUnit.MILLISECONDS.toNanos(20);

		private static final long LONGEST_RETRY = TimeUnit.MILLISECONDS.toNanos(500);

		private final Ownership ownership;

		private volatile boolean planned;

		private volatile boolean underWay;

		private volatile boolean retrying;

		private volatile long at;

		/**
		 * When the last command was sent that the store has answered with yes.
		 */
		private volatile long confirmedAt;

		/**
		 * How often the store has renewed the lease.
		 */
		private volatile int count;

		Plan(Ownership ownership) {
			this.ownership = ownership;
			plan(ownership.lease().sent(), ownership.wholeLease());
		}

		/**
		 * Plans the renewal after one that was sent at the given time. The last renewal
		 * ends the lease where the longest hold ends, to the millisecond, so that no
		 * renewal follows.
		 */
		synchronized void plan(long sent, long nanos) {
			this.confirmedAt = sent;
			this.at = sent + nanos / 3;
			this.retrying = false;
			this.planned = this.ownership.options().renewed()
					&& this.ownership.maxHoldLeft(sent) - nanos >= TimeUnit.MILLISECONDS.toNanos(1);
			this.underWay = false;
		}

		/**
		 * Counts a renewal by the store, and plans the next one.
		 */
		synchronized void renewed(long sent, long nanos) {
			this.count++;
			plan(sent, nanos);
		}

		int count() {
			return this.count;
		}

		/**
		 * Plans to try again soon, for the store failed.
		 */
		synchronized void retry(long now) {
			this.at = now + Math.max(SHORTEST_RETRY, Math.min(LONGEST_RETRY, this.ownership.options().lease() / 20));
			this.retrying = true;
			this.underWay = false;
		}

		private synchronized void begin() {
			this.underWay = true;
		}

		/**
		 * Plans to try a renewal again soon that was begun and came to no end.
		 */
		private synchronized void retryUnlessEnded(long now) {
			if (this.underWay) {
				retry(now);
			}
		}

		/**
		 * Returns whether a renewal is to come. One is while a request collects its keys,
		 * even if their lease is fixed.
		 */
		boolean isPlanned() {
			return this.planned || this.ownership.isCollecting();
		}

		/**
		 * Returns whether the lease has run out. A lease that can still be renewed and is
		 * only suspect is renewed first, to see.
		 */
		private boolean isExpired(Moment now) {
			Lease lease = this.ownership.lease();
			return (isPlanned() ? lease.monotonicLeft(now) : lease.left(now)) <= 0;
		}

		/**
		 * Returns whether to renew now: the planned time has come, the machine may have
		 * been suspended, or the store may have forgotten the lease.
		 * @param doubted the store may have forgotten what was sent before that time
		 */
		private boolean isDue(Moment now, long doubted) {
			boolean isTime = this.at - now.nanos() <= 0;
			if (this.confirmedAt - doubted < 0) {
				return !this.underWay && (!this.retrying || isTime);
			}
			return isPossible() && (isTime || (!this.retrying && this.ownership.lease().isSuspect(now)));
		}

		/**
		 * Returns whether to renew now if another lease is due, to share its command: in
		 * the second half of the time between two renewals. So all locks of a node come
		 * to be renewed at the same time, and stay so, however far apart they were
		 * acquired.
		 */
		private boolean isNearlyDue(Moment now) {
			long slack = this.retrying ? 0 : (this.at - this.confirmedAt) / 2;
			return isPossible() && this.at - now.nanos() <= slack;
		}

		private boolean isPossible() {
			return isPlanned() && !this.underWay;
		}

		/**
		 * Returns how long nothing needs to be done, in nanoseconds.
		 */
		long nanosToNextEvent(Moment now) {
			long toDeadline = this.ownership.lease().monotonicLeft(now);
			return (isPossible() || this.retrying) ? Math.min(toDeadline, this.at - now.nanos()) : toDeadline;
		}

		/**
		 * Returns the lease to ask for, trimmed to end where the longest hold ends. If
		 * the lease is not to be longer, this is what is left of the lease.
		 */
		Duration lease(Moment now) {
			long nanos = isPlanned() ? Math.min(this.ownership.leaseToAsk(), this.ownership.maxHoldLeft(now.nanos()))
					: this.ownership.lease().leftOnServer(now);
			return Duration.ofMillis(Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos)));
		}

	}

}
