package io.github.distributedlock.engine.lease;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import io.github.distributedlock.EngineSnapshot;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.engine.lease.Lease.Moment;
import io.github.distributedlock.engine.runtime.EngineTime;
import io.github.distributedlock.engine.runtime.Nodes;
import io.github.distributedlock.engine.runtime.Undo;
import io.github.distributedlock.engine.runtime.Workers;
import org.jspecify.annotations.Nullable;

/**
 * Renews leases a third of their length after the last renewal at the latest, and
 * declares those lost whose lease has run out.
 * <p>
 * Invariants: an ownership is guarded from before its acquire returns until before its
 * release is sent. One alarm is set for the earliest moment at which a guarded ownership
 * needs anything; it may be earlier than needed, never later. The alarm only sorts out
 * what is due: commands are sent by the renewal workers, one round at a time for each
 * node, so that a node that stalls delays only its own leases, and no deadline.
 */
public final class Watchdog {

	/**
	 * A suspended machine is noticed so soon after it is resumed.
	 */
	private static final long LONGEST_NAP = TimeUnit.SECONDS.toNanos(1);

	private final Set<Ownership> guarded = ConcurrentHashMap.newKeySet();

	private final Set<Object> busyNodes = ConcurrentHashMap.newKeySet();

	private final Nodes nodes;

	private final Consumer<List<Renewal>> round;

	private final LossHandler lossHandler;

	private final EngineTime time;

	private final Workers workers;

	private final ReentrantLock mutex = new ReentrantLock();

	/** What was sent before that, the store may have forgotten. */
	private volatile long doubtedAt;

	private EngineTime.@Nullable Alarm alarm;

	private long alarmAt;

	private long alarmNumber;

	public Watchdog(LockBackend backend, Consumer<List<Renewal>> round, LossHandler lossHandler, EngineTime time,
			Workers workers) {
		this.nodes = new Nodes(backend);
		this.round = round;
		this.lossHandler = lossHandler;
		this.time = time;
		this.workers = workers;
		this.doubtedAt = time.nanoTime();
	}

	public void guard(Ownership ownership) {
		this.guarded.add(ownership);
		boolean done = false;
		try {
			setAlarm(ownership.lease().toRenewal(Moment.now(this.time)));
			done = true;
		}
		finally {
			if (!done) {
				unguard(ownership);
			}
		}
	}

	public void unguard(Ownership ownership) {
		this.guarded.remove(ownership);
	}

	/**
	 * Renews all of them at once, also fixed leases for as long as they still are, since
	 * the store may have forgotten them: what it does not have is lost. An answer that is
	 * under way does not count.
	 */
	public void renewAll() {
		this.doubtedAt = this.time.nanoTime();
		setAlarm(0);
	}

	/**
	 * Describes all of them to users.
	 */
	public List<EngineSnapshot.Hold> describe() {
		Moment now = Moment.now(this.time);
		return this.guarded.stream().filter(Ownership::isOwned).map((ownership) -> ownership.describe(now)).toList();
	}

	/**
	 * How many there are to describe, without describing them.
	 */
	public int count() {
		return this.guarded.size();
	}

	public List<Ownership> guarded() {
		return List.copyOf(this.guarded);
	}

	private void setAlarm(long delay) {
		this.mutex.lock();
		try {
			long at = this.time.nanoTime() + Math.max(0, Math.min(delay, LONGEST_NAP));
			if (this.alarm != null) {
				if (at - this.alarmAt >= 0) {
					return;
				}
				this.alarm.cancel();
				this.alarm = null; // Even if no other can be set now.
			}
			this.alarmAt = at;
			long number = ++this.alarmNumber;
			this.alarm = this.time.schedule(() -> look(number), at - this.time.nanoTime());
		}
		finally {
			this.mutex.unlock();
		}
	}

	private void look(long number) {
		if (!takeDown(number)) {
			return;
		}
		Map<Object, List<Renewal>> due = new HashMap<>();
		// Unless the look goes well: it must not be the last.
		long nap = LONGEST_NAP / 10;
		try {
			nap = sortOut(due);
		}
		finally {
			if (!this.guarded.isEmpty()) {
				setAlarm(nap);
			}
		}
		due.forEach(this::renew);
	}

	/**
	 * Takes note that an alarm has rung.
	 * @return {@code false} if it was cancelled too late, so that another one is set
	 */
	private boolean takeDown(long number) {
		this.mutex.lock();
		try {
			if (number != this.alarmNumber) {
				return false;
			}
			this.alarm = null;
			return true;
		}
		finally {
			this.mutex.unlock();
		}
	}

	/**
	 * Declares lost what is over, and finds what to renew on each node where anything is
	 * due: that, and what is nearly due.
	 * @return how long nothing else needs to be done
	 */
	private long sortOut(Map<Object, List<Renewal>> due) {
		Moment now = Moment.now(this.time);
		long nap = LONGEST_NAP;
		Set<Object> nodes = new HashSet<>();
		for (Ownership ownership : this.guarded) {
			Renewal renewal = ownership.renewal();
			if (isOver(renewal, now)) {
				this.lossHandler.declare(ownership, ownership.overReason());
			}
			if (!ownership.isOwned()) {
				this.guarded.remove(ownership);
			}
			else {
				boolean isDue = renewal.isDue(now, this.doubtedAt);
				if (isDue || renewal.isNearlyDue(now)) {
					Object node = this.nodes.of(ownership.key());
					due.computeIfAbsent(node, (first) -> new ArrayList<>()).add(renewal);
					if (isDue) {
						nodes.add(node);
					}
				}
				nap = Math.min(nap, isDue ? ownership.lease().monotonicLeft(now) : renewal.nanosToNextEvent(now));
			}
		}
		due.keySet().retainAll(nodes);
		return nap;
	}

	/**
	 * A lease that can still be renewed and is only suspect is renewed first, to see.
	 */
	private static boolean isOver(Renewal renewal, Moment now) {
		Lease lease = renewal.ownership.lease();
		return (renewal.isPlanned() ? lease.monotonicLeft(now) : lease.left(now)) <= 0;
	}

	private void renew(Object node, List<Renewal> due) {
		if (!this.busyNodes.add(node)) {
			return;
		}
		due.forEach(Renewal::begin);
		Undo.ifFails(() -> this.workers.renewal(() -> {
			try {
				this.round.accept(due);
			}
			finally {
				ended(node, due);
			}
		}), () -> ended(node, due));
	}

	private void ended(Object node, List<Renewal> round) {
		long now = this.time.nanoTime();
		round.forEach((renewal) -> renewal.retryUnlessEnded(now));
		this.busyNodes.remove(node);
		setAlarm(0);
	}

}
