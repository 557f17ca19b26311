package io.github.distributedlock.engine;

import java.util.Comparator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.BooleanSupplier;

import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockFeature;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps keys with this JVM while no local request uses them, as delegations of NFSv4 do,
 * which are recalled, too. The stay of a key ends when the key was not used for its keep
 * time, or for a millisecond if others have asked for the key; with the next release
 * after the key has been here for its keep time; when a renewal of an unused key fails;
 * and when the engine stops.
 *
 * <pre>
 *                 borrowed
 *          ┌──────────────────┐
 *          ▼                  │
 *        in use ──────────► stays ──────────► released, or lost
 *          │    returned              unused, recalled, too many, stop
 *          └───────────────► released
 *            here for the keep time, lease made longer, stop
 * </pre>
 *
 * Invariants: the {@link LocalKey} has the key while the key stays. A stay begins and
 * ends under the monitor of that key; after its end nothing of the stay is left here, not
 * even the alarm. The key of a stay is taken by one change of the {@link Ownership} from
 * vacant. So a request either takes the key, or waits until the store has answered the
 * release of the key. While the key is unused, an alarm is set for the end of the stay or
 * for an earlier time. An alarm that rings while the key is in use sets no other alarm,
 * since the return of the key does. Safe for use by many threads.
 */
final class KeptKeys implements LocalKey.Keeper {

	private static final Logger logger = LoggerFactory.getLogger(KeptKeys.class);

	/**
	 * The number of keys that stay at most: the key that was used the longest ago goes
	 * first.
	 */
	static final int MOST = 1_000;

	/**
	 * The time for which a key that others want is unused before the key goes.
	 */
	private static final long IDLE = TimeUnit.MILLISECONDS.toNanos(1);

	/**
	 * The most times that a key does not stay after stays in vain, a power of two.
	 */
	private static final int LONGEST_PAUSE = 64;

	private static final int LEFT = 0xFFFF;

	private final Set<Stay> stays = ConcurrentHashMap.newKeySet();

	private final LockBackend backend;

	private final Instance instance;

	private final boolean handsOver;

	private final Leases leases;

	private final NodeTasks tasks;

	private final EngineTime time;

	private final BooleanSupplier isOpen;

	/**
	 * By the hash of a key, the pause after a stay in vain: another JVM asked before any
	 * request had come here. The lower half of a number says how many more times the key
	 * does not stay, the upper half how long the whole pause is. Each stay in vain
	 * doubles the pause, so that JVMs that take turns rarely wait for a key that nobody
	 * uses. A stay in use ends the pauses, so that one late thread costs its JVM one
	 * turn. A wrong number, as of two keys with one hash, costs some commands only.
	 */
	private final AtomicIntegerArray pauses = new AtomicIntegerArray(1024);

	private final AtomicBoolean toldOff = new AtomicBoolean();

	/**
	 * Creates an instance without any keys.
	 * @param instance tells whether others can ask for a key
	 * @param handsOver whether keys may be handed over inside this JVM
	 * @param isOpen tells whether keys may stay
	 */
	KeptKeys(LockBackend backend, Instance instance, boolean handsOver, Leases leases, NodeTasks tasks, EngineTime time,
			BooleanSupplier isOpen) {
		this.backend = backend;
		this.instance = instance;
		this.handsOver = handsOver;
		this.leases = leases;
		this.tasks = tasks;
		this.time = time;
		this.isOpen = isOpen;
		leases.ifKeptNotRenewed(this::releaseAll);
	}

	/**
	 * Releases all keys that are unused, in the background: the engine has stopped, or
	 * the store refuses to renew one of them, since the store has no memory, or the
	 * rights of this client have changed.
	 */
	void releaseAll() {
		this.stays.forEach(Stay::release);
	}

	/**
	 * Returns how many keys stay here unused.
	 */
	int count() {
		return (int) this.stays.stream().filter((stay) -> stay.ownership.isVacant()).count();
	}

	/**
	 * Returns whether a key stays here unused.
	 */
	boolean isKept(String key) {
		return this.stays.stream().anyMatch((stay) -> stay.key().equals(key) && stay.ownership.isVacant());
	}

	/**
	 * {@inheritDoc} A key may not stay if the key has been here for its keep time, if the
	 * lease was made longer for a hold that took long, or if the owner has a former
	 * identity: no local request would find the key, and perhaps no recall would arrive.
	 */
	@Override
	public boolean mayKeep(Ownership ownership, boolean stays) {
		return this.isOpen.getAsBoolean() && this.time.nanoTime() - ownership.sliceStart() < ownership.keepTime()
				&& ownership.lease().nanos() <= ownership.claim().lease().toNanos()
				&& this.instance.isOwn(ownership.owner())
				&& (stays || (!pauses(ownership) && this.instance.isKnown() && this.instance.hears()));
	}

	private boolean pauses(Ownership ownership) {
		int pause = this.pauses.getAndUpdate(slot(ownership), (last) -> ((last & LEFT) > 0) ? last - 1 : last);
		return (pause & LEFT) > 0;
	}

	private static int pauseAfter(int last) {
		int length = Math.min(LONGEST_PAUSE, Math.max(1, 2 * (last >>> 16)));
		return (length << 16) | length;
	}

	private int slot(Ownership ownership) {
		return QueueKey.hash(ownership.key()) & (this.pauses.length() - 1);
	}

	/**
	 * Returns whether keys may stay here at all: the store recalls them, and they are
	 * handed over. Otherwise a request must not ask as one whose key may stay, since such
	 * a request gets a short lease, and others wait for the recall.
	 */
	boolean canStay() {
		if (!this.handsOver) {
			return false;
		}
		boolean recalls = this.backend.grantsTo(this.instance.id());
		if (!recalls && !this.toldOff.get()) {
			tellOff();
		}
		return recalls;
	}

	/**
	 * Logs that the store recalls nothing, unless that may change: the store may have to
	 * be asked what the store can do, and may notify again after a while.
	 */
	private void tellOff() {
		boolean isFinal = this.instance.isKnown()
				&& (this.instance.hears() || !this.backend.features().contains(LockFeature.GRANTS));
		if (isFinal && !this.toldOff.getAndSet(true)) {
			logger.info("No key stays with this JVM for its keepTime, since {} recalls none: no other JVM could ask for"
					+ " the key. This is logged once", this.backend.getClass().getSimpleName());
		}
	}

	@Override
	public LocalKey.@Nullable Stay begin(LocalKey key, Ownership ownership, BooleanSupplier leaves) {
		Stay stay = new Stay(key, ownership);
		this.stays.add(stay); // While the key is not vacant, since memory may be lacking.
		boolean begun = false;
		try {
			begun = leaves.getAsBoolean();
		}
		finally {
			if (!begun) {
				stay.left();
			}
		}
		return begun ? stay : null;
	}

	/**
	 * The stay of one key.
	 */
	private final class Stay implements LocalKey.Stay {

		private final LocalKey local;

		private final Ownership ownership;

		private volatile long lastUse;

		/**
		 * {@code true} once a request has taken the key again.
		 */
		private volatile boolean isUsed;

		/**
		 * {@code true} while an alarm is set. Changed only under this monitor.
		 */
		private volatile boolean isAlarmSet;

		/**
		 * The moment for which the alarm is set. Guarded by this, as are the next two
		 * fields.
		 */
		private long alarmAt;

		private boolean hasEnded;

		private Runnable cancelAlarm = () -> {
		};

		private Stay(LocalKey local, Ownership ownership) {
			this.local = local;
			this.ownership = ownership;
			this.lastUse = KeptKeys.this.time.nanoTime();
		}

		private String key() {
			return this.ownership.key();
		}

		private boolean isRecalled() {
			return this.local.isRecalled(this.ownership.owner());
		}

		/**
		 * Returns the moment at which the stay ends, if the key is not used again.
		 */
		private long due() {
			return this.lastUse
					+ (isRecalled() ? Math.min(IDLE, this.ownership.keepTime()) : this.ownership.keepTime());
		}

		private void setAlarm() {
			try {
				setAlarm(due());
			}
			catch (Throwable ex) { // Such as having no thread.
				failed(ex);
			}
		}

		/**
		 * Releases the key, since no alarm may be set that would end the stay.
		 */
		private void failed(Throwable ex) {
			release();
			Failures.caught(ex, () -> "The alarm of lock " + LockException.printable(key()));
		}

		private synchronized void setAlarm(long at) {
			if (this.hasEnded || (this.isAlarmSet && at - this.alarmAt >= 0)) {
				return;
			}
			this.cancelAlarm.run();
			this.isAlarmSet = false; // Cleared even if no other alarm can be set now.
			this.alarmAt = at;
			this.cancelAlarm = KeptKeys.this.time.schedule(this::ring, Math.max(0, at - KeptKeys.this.time.nanoTime()));
			this.isAlarmSet = true;
		}

		@Override
		public void returned(boolean again) {
			try {
				if (again && !this.isUsed) {
					this.isUsed = true;
					KeptKeys.this.pauses.set(slot(this.ownership), 0);
				}
				this.lastUse = KeptKeys.this.time.nanoTime();
				if (!this.isAlarmSet) {
					setAlarm();
				}
				// A stop closes first, then releases.
				if (!KeptKeys.this.isOpen.getAsBoolean()) {
					release();
				}
				else if (!again) {
					// Other threads may find the same key, and only one of them releases
					// it.
					Stay oldest = surplus();
					while (oldest != null && oldest.release()) {
						oldest = surplus();
					}
				}
			}
			catch (Throwable ex) {
				failed(ex);
			}
		}

		/**
		 * Returns the one of the other keys that was used the longest ago; {@code null}
		 * if there are not too many keys.
		 */
		private @Nullable Stay surplus() {
			return (KeptKeys.this.stays.size() <= MOST) ? null
					: KeptKeys.this.stays.stream()
						.filter((other) -> other != this && other.ownership.isVacant())
						.min(Comparator.comparingLong((other) -> other.lastUse - this.lastUse))
						.orElse(null);
		}

		@Override
		public void recalled() {
			setAlarm();
		}

		@Override
		public void left() {
			tryLeave();
		}

		private boolean tryLeave() {
			synchronized (this) {
				this.hasEnded = true;
				this.cancelAlarm.run();
			}
			return KeptKeys.this.stays.remove(this);
		}

		/**
		 * Ends the stay, or sets another alarm. An alarm that was cancelled too late
		 * rings as well, which does no harm.
		 */
		private void ring() {
			synchronized (this) {
				this.isAlarmSet = false; // A later return sets another alarm.
			}
			if (this.ownership.isVacant() || this.ownership.isLost()) {
				if (this.ownership.isLost() || due() - KeptKeys.this.time.nanoTime() <= 0) {
					release();
				}
				setAlarm();
			}
		}

		/**
		 * Ends the stay, unless the key is in use. Throws nothing: others may be in the
		 * middle of a step of another key.
		 * @return {@code false} if the release failed
		 */
		private boolean release() {
			return Failures.run(() -> {
				if (this.local.endStay(this.ownership)) {
					end();
				}
			}, this::releaseOfLock);
		}

		/**
		 * Releases the key in the background, or leaves the queue at once if the key is
		 * lost.
		 */
		@Override
		public void end() {
			if (!tryLeave()) {
				return;
			}
			if (isRecalled() && !this.isUsed) {
				KeptKeys.this.pauses.updateAndGet(slot(this.ownership), KeptKeys::pauseAfter);
			}
			KeptKeys.this.leases.watchdog().unguard(this.ownership);
			if (this.ownership.isLost()) {
				this.local.released(this.ownership);
			}
			else if (!Failures.run(
					() -> KeptKeys.this.tasks.run(NodeTasks.node(KeptKeys.this.backend, key()), this::releaseInStore),
					this::releaseOfLock)) {
				leave(false);
			}
		}

		private String releaseOfLock() {
			return "The release of lock " + LockException.printable(key());
		}

		private void releaseInStore() {
			Boolean owned = null;
			try {
				owned = Failures.call("release", key(),
						() -> KeptKeys.this.backend.release(key(), this.ownership.owner()));
			}
			catch (RuntimeException ex) {
				logger.debug("Could not release lock '{}' of {} yet, which nobody uses", LockException.printable(key()),
						this.ownership.owner(), ex);
			}
			finally {
				leave(owned != null);
			}
			if (owned != null && !owned) {
				KeptKeys.this.leases.discoveredAtRelease(this.ownership, this.ownership.hold());
			}
		}

		private void leave(boolean answered) {
			try {
				KeptKeys.this.leases.ended(this.ownership, answered);
			}
			finally {
				this.local.released(this.ownership); // Or no other request gets the key.
			}
		}

	}

}
