package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockListener;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.engine.EngineTime.Workers;
import io.github.distributedlock.engine.Lease.Moment;
import io.github.distributedlock.engine.Ownership.Possession;
import io.github.distributedlock.internal.DurationRange;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keys that this JVM owns in the store: whether a key is still ours, how leases are
 * made longer, and how an ownership ends. The rest of the engine reaches the leases only
 * through this class. Safe for use by many threads.
 * <p>
 * A lease is made longer in three cases: the {@link Watchdog} finds the lease due,
 * several keys are about to be handed out, or a user asks for an extension. An extension
 * has three states: not sent, sent, ended. An extension has ended when the store has
 * answered, or is known not to have carried the extension out; an extension without an
 * answer stays sent.
 * <p>
 * Invariants: an extension is counted in its {@link Ownership} from before the sending
 * until the extension has ended. A key with an extension that has not ended is not handed
 * over, since the store may still carry the extension out. A lease counts as longer only
 * after the answer, and from before the command was sent. No command makes a lease
 * shorter, in the store or here. A key is lost once, by the thread that changes the state
 * of its {@link Ownership}, and only that thread reports the loss, to the handles, the
 * listeners and the log.
 */
final class Leases {

	private static final Logger logger = LoggerFactory.getLogger(Leases.class);

	private final LockBackend backend;

	private final EngineTime time;

	private final Events events;

	private final Sweeper sweeper;

	private final Watchdog watchdog;

	private final ForcedReleases forced;

	/** What the store has denied to be ours, until the reason is known. */
	private final Set<Ownership> examined = ConcurrentHashMap.newKeySet();

	private final Map<Reason, Long> losses = new ConcurrentHashMap<>();

	private final LongAdder late = new LongAdder();

	/**
	 * Runs when a key that stays here unused could not be renewed. Written before the
	 * engine is used.
	 */
	private Runnable keptNotRenewed = () -> {
	};

	/**
	 * Creates an empty set of leases.
	 */
	Leases(LockBackend backend, List<LockListener> listeners, EngineTime time, Workers workers) {
		this.backend = backend;
		this.time = time;
		this.events = new Events(listeners, workers, time);
		this.sweeper = new Sweeper(backend, time, workers);
		this.forced = new ForcedReleases(backend, time, workers);
		this.watchdog = new Watchdog(backend, this::renewDue, this::declare, time, workers);
	}

	Watchdog watchdog() {
		return this.watchdog;
	}

	Sweeper sweeper() {
		return this.sweeper;
	}

	Events events() {
		return this.events;
	}

	/**
	 * Sets the action that runs if a key that stays here unused cannot be renewed.
	 */
	void ifKeptNotRenewed(Runnable action) {
		this.keptNotRenewed = action;
	}

	/**
	 * Repeats what the store may not have heard of an ownership that has ended.
	 * @param released whether the store has answered the release of the ownership
	 */
	void ended(Ownership ownership, boolean released) {
		ended(ownership, !released, 0);
	}

	/**
	 * Repeats what the store may not have heard of an ownership that has ended.
	 * @param remains whether the store may still have the ownership
	 * @param parkTime for how much longer a key that remains is to block others, in
	 * nanoseconds, or 0
	 */
	void ended(Ownership ownership, boolean remains, long parkTime) {
		if (remains) {
			this.sweeper.release(ownership, parkTime);
		}
		if (ownership.isUnsettled()) {
			cleanUp(ownership);
		}
	}

	/**
	 * Undoes commands that were sent for an ownership and never answered. Called once the
	 * ownership has ended.
	 */
	void cleanUp(Ownership ownership) {
		this.sweeper.cleanUp(ownership.claim());
	}

	/**
	 * Ends all leases with the engine: keys that are still held are lost, and each
	 * command that is to be repeated is tried once more.
	 */
	void end() {
		for (Ownership ownership : this.watchdog.guarded()) {
			Failures.run(() -> declare(ownership, Reason.SHUTDOWN),
					() -> "The end of lock " + LockException.printable(ownership.key()));
		}
		this.sweeper.finish();
	}

	/**
	 * Returns whether the hold is certainly ours still; declares the hold lost if its
	 * lease is over.
	 */
	boolean isStillHeld(Hold hold) {
		if (hold.isHeld()) {
			isStillOwned(hold.ownership());
		}
		return hold.isHeld();
	}

	/**
	 * Returns whether the key is certainly ours still; declares the key lost if its lease
	 * is over.
	 */
	boolean isStillOwned(Ownership ownership) {
		if (ownership.isOwned() && ownership.isExpired()) {
			declare(ownership, ownership.expiryReason());
		}
		return ownership.isOwned();
	}

	/**
	 * Declares a key lost that the store has denied to be ours: once the reason is known,
	 * or after a second. Until then the key is not handed over. Asks no store on the
	 * calling thread.
	 */
	void denied(Ownership ownership) {
		if (!this.examined.add(ownership)) {
			return; // An earlier denial is about to be declared.
		}
		Possession hold = ownership.hold();
		if (hold == null || ownership.isCollecting() || !ownership.beginExtension(hold)) {
			this.examined.remove(ownership);
			declare(ownership, Reason.TAKEN);
			return;
		}
		this.forced.findReason(ownership.key(), ownership.owner(), (reason) -> {
			this.examined.remove(ownership);
			ownership.endExtension(hold);
			declare(ownership, reason);
		});
	}

	/**
	 * Releases a key by force, and tells the holder if that is here.
	 * @param operator a new owner token of this JVM
	 * @return whether the owner had the key
	 */
	boolean forceRelease(String key, String owner, String operator) {
		boolean released = this.forced.release(key, owner, operator);
		if (released) {
			this.watchdog.guarded()
				.stream()
				.filter((each) -> each.key().equals(key) && each.owner().equals(owner))
				.forEach((each) -> declare(each, Reason.FORCED_RELEASE));
		}
		return released;
	}

	/**
	 * Declares a key lost, unless the key is lost or being released already.
	 */
	void declare(Ownership ownership, Reason reason) {
		if (!ownership.lose(reason)) {
			return;
		}
		Possession last = ownership.hold();
		if (last != null && ownership.isLostBy(last)) {
			try {
				last.leaveQueue();
			}
			finally { // The loss is reported even if leaving found no thread.
				report(ownership, last, reason);
			}
			return;
		}
		// A clock that was set forward ends a lease here that lasts in the store.
		ended(ownership, ForcedReleases.isGone(reason));
		if (last != null && ForcedReleases.isGone(reason)) {
			report(ownership, last, reason);
		}
		else if (ownership.keepTime() > 0) {
			logger.debug("Lock '{}' of {} was lost while nobody used it: {}", LockException.printable(ownership.key()),
					ownership.owner(), why(reason, ownership));
		}
		else {
			warn(ownership, "was lost while it was handed over", reason, why(reason, ownership));
		}
	}

	/**
	 * Reports that a key was not ours any more when the key was to be released. The last
	 * hold of the key gets the report, if there was one. If the lease was over when the
	 * store answered, nothing else is known: no other owner need have taken the key
	 * before.
	 */
	void discoveredAtRelease(Ownership ownership, @Nullable Possession last) {
		if (last != null && ownership.isExpired()) {
			report(ownership, last, ownership.expiryReason(),
					"its release took longer than what was left of its lease of "
							+ Failures.text(ownership.lease().nanos()));
		}
		else if (last != null) {
			last.lost(); // At once, since the store answers a release only once.
			this.forced.findReason(ownership.key(), ownership.owner(), (reason) -> report(ownership, last, reason));
		}
	}

	/**
	 * Returns how many leases were renewed late.
	 */
	long late() {
		return this.late.sum();
	}

	/**
	 * Returns how many holds were lost, by reason.
	 */
	Map<Reason, Long> losses() {
		return Map.copyOf(this.losses);
	}

	private void report(Ownership ownership, Possession hold, Reason reason) {
		report(ownership, hold, reason, why(reason, ownership));
	}

	private void report(Ownership ownership, Possession hold, Reason reason, String why) {
		Duration held = hold.held();
		hold.lost(); // Before anything that may fail.
		if (ownership.isCollecting()) {
			warn(ownership, "was lost while its request waited for its other keys, and has to be acquired anew", reason,
					why);
			return;
		}
		this.losses.merge(reason, 1L, Long::sum);
		this.events.publishAsync(new LockEvent.Lost(hold.request(), ownership.key(), ownership.owner(), reason, held));
		warn(ownership, "was lost after " + Failures.text(held), reason, why);
	}

	/**
	 * Logs a loss. At the end of the engine, no other thread may live for long enough.
	 */
	private void warn(Ownership ownership, String what, Reason reason, String why) {
		String remedy = remedy(reason);
		Runnable log = () -> logger.warn("Lock '{}' of {} {}: {}{}", LockException.printable(ownership.key()),
				ownership.owner(), what, why, (remedy != null) ? " (" + remedy + ")" : "");
		if (reason == Reason.SHUTDOWN) {
			log.run();
		}
		else {
			this.events.log(log);
		}
	}

	/**
	 * Returns the exception for a hold that is lost.
	 * @param keys the keys of the handle
	 */
	static LockLostException lost(Hold hold, List<String> keys) {
		Reason reason = hold.ownership().lossReason();
		return new LockLostException("Lock '" + LockException.printable(hold.key()) + "' of " + hold.owner()
				+ " was lost: " + why(reason, hold.ownership()), remedy(reason), keys, reason);
	}

	/**
	 * Returns what happened, for a message.
	 */
	private static String why(Reason reason, Ownership ownership) {
		HoldOptions options = ownership.options();
		return switch (reason) {
			case LEASE_EXPIRED ->
				"its fixed lease of " + Failures.text(options.lease()) + " ran out before it was released";
			case MAX_HOLD_TIME -> "its maxHoldTime of " + Failures.text(options.maxHold()) + " was reached";
			case NOT_RENEWED -> "its lease of " + Failures.text(ownership.lease().nanos())
					+ " was not renewed in time: the store could not be reached, or this JVM was paused";
			case TAKEN -> "the store says that the key is no longer ours";
			case FORCED_RELEASE -> "an operator has released the key by force";
			case SHUTDOWN -> "the lock engine was closed while the lock was held; its lease is left to run out";
		};
	}

	/**
	 * Returns what the reader of the message can do, {@code null} if nothing.
	 */
	private static @Nullable String remedy(Reason reason) {
		return switch (reason) {
			case LEASE_EXPIRED -> "leave the leaseTime empty to have the lease renewed for as long as the work takes";
			case NOT_RENEWED -> "look at the store, the network and long pauses, or choose a longer lease";
			case TAKEN -> "find out whether the key was deleted, evicted, or lost in a failover";
			case MAX_HOLD_TIME, FORCED_RELEASE, SHUTDOWN -> null;
		};
	}

	/**
	 * Renews the leases that are due on one node, some hundred leases with each command.
	 * A renewal that fails, even by an error, is tried again, and costs no other batch.
	 */
	private void renewDue(List<Ownership> due) {
		batches(due, this.backend.largestBatch()).forEach((batch) -> Failures.run(() -> renewBatch(batch, this::denied),
				() -> "The renewal of " + batch.size() + " locks"));
	}

	/**
	 * Renews the leases of keys before the keys are handed out. Keys that are not ours
	 * any more are declared lost.
	 * @throws LockBackendException if the store has failed
	 */
	void renew(List<Hold> holds) {
		List<Ownership> all = holds.stream().map(Hold::ownership).toList();
		for (List<Ownership> ofNode : NodeTasks.byNode(this.backend, all, Ownership::key).values()) {
			for (List<Ownership> batch : batches(ofNode, this.backend.largestBatch())) {
				LockBackendException failure = renewBatch(batch, (denied) -> declare(denied, Reason.TAKEN));
				if (failure != null) {
					throw failure;
				}
			}
		}
	}

	/**
	 * Divides a list into parts that a store renews or releases at once, in order.
	 * @param largest the largest part that the store accepts
	 */
	static <T> List<List<T>> batches(List<T> all, int largest) {
		int most = Math.max(1, Math.min(all.size(), largest));
		return IntStream.range(0, (all.size() + most - 1) / most)
			.mapToObj((i) -> all.subList(i * most, Math.min(all.size(), (i + 1) * most)))
			.toList();
	}

	/**
	 * Renews with one command the ownerships that are not lost. If the store refuses the
	 * command, each ownership is renewed alone, so that a key that is refused costs no
	 * other lock. The leases that were renewed count before any other lease is denied.
	 * @return why the store has failed, {@code null} if the store has not
	 */
	private @Nullable LockBackendException renewBatch(List<Ownership> batch, Consumer<Ownership> denied) {
		Moment sent = Moment.now(this.time);
		List<Ownership> owned = batch.stream().filter(Ownership::isOwned).toList();
		List<Renewal> renewals = owned.stream().map((each) -> renewal(each, each.plan().lease(sent))).toList();
		if (renewals.isEmpty()) {
			return null;
		}
		try {
			List<Boolean> answers = Failures.callEach("renew", renewals.get(0).key(), renewals.size(),
					() -> this.backend.renew(renewals));
			List<Ownership> gone = new ArrayList<>();
			for (int i = 0; i < renewals.size(); i++) {
				if (answers.get(i)) {
					renewed(owned.get(i), sent, renewals.get(i).lease());
				}
				else {
					gone.add(owned.get(i));
				}
			}
			gone.forEach(denied);
			return null;
		}
		catch (LockBackendException ex) {
			if (owned.size() > 1 && ex.isWithoutEffect() && !ex.isRetryable()) {
				owned.forEach((each) -> renewBatch(List.of(each), denied));
				return ex;
			}
			owned.forEach((each) -> failed(each, !ex.isWithoutEffect()));
			logger.debug("Could not renew {} locks, trying again", batch.size(), ex);
			return ex;
		}
	}

	private static Renewal renewal(Ownership ownership, Duration lease) {
		return new Renewal(ownership.key(), ownership.owner(), lease, ownership.mode());
	}

	private void renewed(Ownership ownership, Moment sent, Duration lease) {
		if (ownership.isOwned()) {
			long left = ownership.lease().left(Moment.now(this.time));
			boolean isLate = ownership.plan().isPlanned() && !ownership.isKept() && left < ownership.wholeLease() / 6;
			ownership.confirmed(sent, lease.toNanos());
			ownership.plan().renewed(new Lease(sent, lease.toNanos()));
			if (isLate) {
				this.late.increment();
				this.events.publishAsync(new LockEvent.RenewedLate(ownership.request(), ownership.key(),
						ownership.owner(), Duration.ofNanos(left)));
			}
		}
		else {
			cleanUpIfLost(ownership); // The ownership ended before this renewal was
										// carried out.
		}
	}

	private void failed(Ownership ownership, boolean mayComeLate) {
		isStillOwned(ownership);
		if (mayComeLate) {
			cleanUpIfLost(ownership);
		}
		ownership.plan().retry(this.time.nanoTime());
		if (ownership.isKept()) {
			this.keptNotRenewed.run();
		}
	}

	private void cleanUpIfLost(Ownership ownership) {
		if (ownership.isLost() && !ownership.isLeftToRunOut()) {
			cleanUp(ownership);
		}
	}

	/**
	 * Makes each lease last at least so long from now.
	 * @return whether all keys are held, and their leases last so long
	 */
	boolean extend(List<Hold> holds, Duration lease) {
		DurationRange.LEASE.check("lease", lease);
		return holds.stream().allMatch((hold) -> extend(hold, lease));
	}

	private boolean extend(Hold hold, Duration lease) {
		Moment sent = Moment.now(this.time);
		Ownership ownership = hold.ownership();
		long longest = ownership.maxHoldLeft(sent.nanos());
		if (longest < lease.toNanos()) {
			throw new IllegalArgumentException(
					"Lock '" + LockException.printable(hold.key()) + "' cannot be extended by " + Failures.text(lease)
							+ ": that is past its maxHoldTime of " + Failures.text(hold.options().maxHold()));
		}
		if (!isStillHeld(hold) || hold.lease().left(sent) >= lease.toNanos()) {
			return hold.isHeld();
		}
		// Not shorter than the watchdog would ask for: once such a renewal was not
		// answered, a store may have to refuse longer leases, since that renewal may
		// still
		// be carried out after them.
		long least = hold.options().renewed() ? Math.min(hold.options().lease(), longest) : 0;
		Duration asked = Duration.ofMillis(Math.max(lease.toMillis(), TimeUnit.NANOSECONDS.toMillis(least)));
		// The store may keep the key for so long without this JVM hearing of that.
		if (!ownership.beginExtension(hold)) {
			return false;
		}
		try {
			List<Renewal> renewal = List.of(renewal(ownership, asked));
			if (!Failures.callEach("extend", hold.key(), 1, () -> this.backend.renew(renewal)).get(0)) {
				declare(ownership, this.forced.reason(ownership.key(), ownership.owner()));
				return false;
			}
		}
		catch (LockBackendException ex) {
			if (ex.isWithoutEffect()) {
				ownership.endExtension(hold);
			}
			throw ex;
		}
		ownership.confirmed(sent, asked.toNanos());
		return isStillHeld(hold) && ownership.endExtension(hold);
	}

}
