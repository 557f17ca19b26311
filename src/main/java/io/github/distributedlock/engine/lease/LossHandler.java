package io.github.distributedlock.engine.lease;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.engine.runtime.EngineTime;
import io.github.distributedlock.engine.runtime.Events;
import io.github.distributedlock.engine.runtime.Text;
import org.jspecify.annotations.Nullable;

/**
 * Declares keys lost, and tells the handles, the listeners and the log. Safe for use by
 * many threads.
 * <p>
 * Invariant: a key is lost once, by the thread that changes the state of its
 * {@link Ownership}, and only that thread tells of it.
 */
public final class LossHandler {

	private final Events events;

	private final Sweeper sweeper;

	private final LossLog log;

	private final Map<Reason, Long> losses = new ConcurrentHashMap<>();

	/**
	 * Creates it.
	 * @param events tell the listeners on other threads
	 */
	public LossHandler(Sweeper sweeper, Events events, EngineTime time) {
		this.sweeper = sweeper;
		this.events = events;
		this.log = new LossLog(time);
	}

	/**
	 * Whether the hold is certainly ours still; declares it lost if its lease is over.
	 */
	public boolean isStillHeld(Hold hold) {
		if (hold.isHeld() && hold.ownership().isOver()) {
			declare(hold.ownership(), hold.ownership().overReason());
		}
		return hold.isHeld();
	}

	/**
	 * Whether the key is certainly ours still; declares it lost if its lease is over.
	 */
	public boolean isStillOwned(Ownership ownership) {
		if (ownership.isOwned() && ownership.isOver()) {
			declare(ownership, ownership.overReason());
		}
		return ownership.isOwned();
	}

	/**
	 * Declares a key lost, unless it is lost or being released already.
	 */
	public void declare(Ownership ownership, Reason reason) {
		if (ownership.lose(reason)) {
			Hold last = ownership.hold();
			if (last != null && last.isLost()) {
				last.leavePlace();
				tell(last, reason, told(reason, ownership));
				return;
			}
			if (ownership.isUnsettled()) {
				this.sweeper.cleanUp(ownership);
			}
			if (reason == Reason.TAKEN && last != null) {
				tell(last, reason, told(reason, ownership));
			}
			else {
				this.log.warn("Lock '" + LockException.printable(ownership.key()) + "' of " + ownership.owner()
						+ " was lost while it was handed on: " + told(reason, ownership));
			}
		}
	}

	/**
	 * Tells the last one to hold a key, if there was one, that it was not ours any more
	 * when it was to be released. If its lease was over when the store answered, that is
	 * all that is known: it need not have been taken before.
	 */
	public void discoveredAtRelease(@Nullable Hold last) {
		if (last == null) {
			return;
		}
		Ownership ownership = last.ownership();
		if (ownership.isOver()) {
			tell(last, ownership.overReason(), "its release took longer than what was left of its lease of "
					+ Text.of(ownership.lease().nanos()) + " (" + remedy(Reason.NOT_RENEWED) + ")");
		}
		else {
			tell(last, Reason.TAKEN, told(Reason.TAKEN, ownership));
		}
	}

	/**
	 * How many holds were lost, by reason.
	 */
	public Map<Reason, Long> losses() {
		return Map.copyOf(this.losses);
	}

	/**
	 * Tells the log what it has not told yet, since there will be no other time.
	 */
	public void finish() {
		this.log.tellCounted();
	}

	private void tell(Hold hold, Reason reason, String why) {
		Duration held = hold.held();
		hold.handles().forEach(AttachedHandle::lost); // Before anything that may fail.
		if (hold.isCollecting()) {
			this.log.warn("Lock '" + LockException.printable(hold.key()) + "' of " + hold.owner()
					+ " was lost while its request waited for its other keys, and has to be acquired anew: " + why);
			return;
		}
		this.losses.merge(reason, 1L, Long::sum);
		this.events.publish(new LockEvent.Lost(hold.options().name(), hold.key(), hold.owner(), reason, held));
		this.log.warn("Lock '" + LockException.printable(hold.key()) + "' of " + hold.owner() + " was lost after "
				+ Text.of(held) + ": " + why);
	}

	/**
	 * The exception for a hold that is lost.
	 * @param keys those of its handle
	 */
	public static LockLostException lost(Hold hold, List<String> keys) {
		Reason reason = hold.ownership().lossReason();
		return new LockLostException("Lock '" + LockException.printable(hold.key()) + "' of " + hold.owner()
				+ " was lost: " + why(reason, hold.ownership()), remedy(reason), keys, reason);
	}

	private static String told(Reason reason, Ownership ownership) {
		String remedy = remedy(reason);
		return why(reason, ownership) + ((remedy != null) ? " (" + remedy + ")" : "");
	}

	/**
	 * What happened.
	 */
	private static String why(Reason reason, Ownership ownership) {
		HoldOptions options = ownership.options();
		return switch (reason) {
			case LEASE_EXPIRED ->
				"its fixed lease of " + Text.of(options.lease()) + " ran out before it was given back";
			case MAX_HOLD_TIME -> "its maxHoldTime of " + Text.of(options.maxHold()) + " was reached";
			case NOT_RENEWED -> "its lease of " + Text.of(ownership.lease().nanos())
					+ " was not renewed in time: the store could not be reached, or this JVM stood still";
			case TAKEN -> "the store says that the key is no longer ours";
			case SHUTDOWN -> "the lock engine was closed while it was held; its lease is left to run out";
		};
	}

	/**
	 * What to do about it.
	 */
	private static @Nullable String remedy(Reason reason) {
		return switch (reason) {
			case LEASE_EXPIRED -> "leave the leaseTime empty to have the lease renewed for as long as it takes";
			case NOT_RENEWED -> "look at the store, the network and long pauses, or choose a longer lease";
			case TAKEN -> "find out whether it was deleted, evicted, or lost in a failover";
			case MAX_HOLD_TIME, SHUTDOWN -> null;
		};
	}

}
