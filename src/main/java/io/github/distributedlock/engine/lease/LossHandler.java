package io.github.distributedlock.engine.lease;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockLostException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Declares keys lost, and reports that to the handles, the listeners and the log. Safe
 * for use by many threads.
 * <p>
 * Invariant: a key is lost once, by the thread that changes the state of its
 * {@link Ownership}, and only that thread reports it.
 */
public final class LossHandler {

	private static final Logger logger = LoggerFactory.getLogger(LossHandler.class);

	private final Sweeper sweeper;

	private final Events events;

	private final Map<Reason, Long> losses = new ConcurrentHashMap<>();

	public LossHandler(Sweeper sweeper, Events events) {
		this.sweeper = sweeper;
		this.events = events;
	}

	/**
	 * Whether the hold is certainly ours still; declares it lost if its lease is over.
	 */
	public boolean isStillHeld(Hold hold) {
		if (hold.isHeld()) {
			isStillOwned(hold.ownership());
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
		if (!ownership.lose(reason)) {
			return;
		}
		Hold last = ownership.hold();
		if (last != null && last.isLost()) {
			last.leavePlace();
			report(last, reason, why(reason, ownership), remedy(reason));
			return;
		}
		if (ownership.isUnsettled()) {
			this.sweeper.cleanUp(ownership);
		}
		if (last != null && reason == Reason.TAKEN) {
			report(last, reason, why(reason, ownership), remedy(reason));
		}
		else {
			warn(ownership, "was lost while it was handed over", why(reason, ownership), remedy(reason));
		}
	}

	/**
	 * Reports that a key was not ours any more when it was to be released, to the last
	 * one to hold it, if there was one. If its lease was over when the store answered,
	 * that is all that is known: it need not have been taken before.
	 */
	public void discoveredAtRelease(@Nullable Hold last) {
		if (last == null) {
			return;
		}
		Ownership ownership = last.ownership();
		if (ownership.isOver()) {
			report(last, ownership.overReason(), "its release took longer than what was left of its lease of "
					+ Failures.text(ownership.lease().nanos()), remedy(Reason.NOT_RENEWED));
		}
		else {
			report(last, Reason.TAKEN, why(Reason.TAKEN, ownership), remedy(Reason.TAKEN));
		}
	}

	/**
	 * How many holds were lost, by reason.
	 */
	public Map<Reason, Long> losses() {
		return Map.copyOf(this.losses);
	}

	private void report(Hold hold, Reason reason, String why, @Nullable String remedy) {
		Duration held = hold.held();
		Ownership ownership = hold.ownership();
		hold.handles().forEach(Hold.Attached::lost); // Before anything that may fail.
		if (ownership.isCollecting()) {
			warn(ownership, "was lost while its request waited for its other keys, and has to be acquired anew", why,
					remedy);
			return;
		}
		this.losses.merge(reason, 1L, Long::sum);
		this.events
			.publishElsewhere(new LockEvent.Lost(hold.options().request(), hold.key(), hold.owner(), reason, held));
		warn(ownership, "was lost after " + Failures.text(held), why, remedy);
	}

	private static void warn(Ownership ownership, String what, String why, @Nullable String remedy) {
		logger.warn("Lock '{}' of {} {}: {}{}", LockException.printable(ownership.key()), ownership.owner(), what, why,
				(remedy != null) ? " (" + remedy + ")" : "");
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

	/**
	 * What happened.
	 */
	private static String why(Reason reason, Ownership ownership) {
		HoldOptions options = ownership.options();
		return switch (reason) {
			case LEASE_EXPIRED ->
				"its fixed lease of " + Failures.text(options.lease()) + " ran out before it was given back";
			case MAX_HOLD_TIME -> "its maxHoldTime of " + Failures.text(options.maxHold()) + " was reached";
			case NOT_RENEWED -> "its lease of " + Failures.text(ownership.lease().nanos())
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
