package io.github.distributedlock;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * The status of one key, as a store knew the key at one moment. A status is immutable and
 * does no I/O. A status may be out of date when the caller reads it.
 *
 * @param key the key
 * @param holders the holders for which the key is busy: several only if the lock is
 * shared or has {@linkplain LockRequest#permits(int) permits}, none if the key is free
 * @param waiters the waiters that are registered in the store, the earliest first. A
 * waiter that has died stays registered until the store notices the death, which takes
 * about a second. The store does not know instances that poll, nor requests that wait for
 * each other inside an instance
 * @param heldHere {@code true} if the owner of the key, or one of the owners that share
 * the key, acquired the key by the engine that was asked; a store sets {@code false}
 * @since 1.0
 * @see DistributedLock#inspect(String)
 */
public record LockStatus(String key, List<Holder> holders, List<Waiter> waiters, boolean heldHere) {

	/**
	 * Creates the status of a key.
	 */
	public LockStatus {
		Objects.requireNonNull(key, "key");
		holders = List.copyOf(holders);
		waiters = List.copyOf(waiters);
	}

	/**
	 * Returns the status of a key as a store reports the key, not held here.
	 * @param key the key
	 * @param holders the holders for which the key is busy
	 * @param waiters the waiters, the earliest first
	 * @return the status
	 */
	public static LockStatus of(String key, List<Holder> holders, List<Waiter> waiters) {
		return new LockStatus(key, holders, waiters, false);
	}

	/**
	 * Returns this status with another {@code heldHere}.
	 * @param heldHere {@code true} if the key is held here
	 * @return the changed status
	 */
	public LockStatus heldHere(boolean heldHere) {
		return new LockStatus(this.key, this.holders, this.waiters, heldHere);
	}

	/**
	 * Returns whether the key has no {@linkplain #holders() holder}. A fair request may
	 * still have to wait until earlier waiters are served.
	 * @return {@code true} if there is no holder
	 */
	public boolean isFree() {
		return this.holders.isEmpty();
	}

	@Override
	public String toString() {
		return LockException
			.printable("LockStatus[key=" + this.key + ", " + (isFree() ? "free" : "holders=" + this.holders)
					+ ", waiters=" + this.waiters + (this.heldHere ? ", held here" : "") + "]");
	}

	/**
	 * The relation of a holder to the key.
	 */
	public enum State {

		/**
		 * The holder owns the key.
		 */
		HELD,

		/**
		 * The holder owns the key, but nobody uses the key: the key
		 * {@linkplain LockRequest#keepTime(java.time.Duration) stays} with the JVM that
		 * was asked, until another JVM wants the key. Keys that stay with other JVMs look
		 * as if held.
		 */
		KEPT,

		/**
		 * The key is reserved for the holder for a moment, since the turn of the holder
		 * has come.
		 */
		RESERVED,

		/**
		 * The holder has released the key, but the key stays busy until a shortest hold,
		 * or the lease, is over.
		 */
		EXPIRING

	}

	/**
	 * A holder: an owner, or an instance, for which a key is busy.
	 *
	 * @param owner the owner token, {@code app@host/pid#random:n}; for a reservation that
	 * is not for a fair request, the instance, which is the part before the last colon
	 * @param state the relation of the holder to the key
	 * @param mode which other owners may have the key at the same time
	 * @param remaining how long the holder has the key unless the lease is renewed,
	 * {@code null} if the store does not report the time
	 * @param permit {@code true} if the holder has one of several
	 * {@linkplain LockRequest#permits(int) permits}. No store knows the number of
	 * permits; each waiting request and each {@link EngineSnapshot.Hold} names the number
	 */
	public record Holder(String owner, State state, LockMode mode, @Nullable Duration remaining, boolean permit) {

		/**
		 * Creates a holder that has the key, not one of several permits.
		 * @param owner the owner token
		 * @param state the relation of the holder to the key
		 * @param mode which other owners may have the key at the same time
		 * @param remaining how long the holder has the key, {@code null} if the store
		 * does not report the time
		 */
		public Holder(String owner, State state, LockMode mode, @Nullable Duration remaining) {
			this(owner, state, mode, remaining, false);
		}

		/**
		 * Returns this holder with another {@code permit}.
		 * @param permit {@code true} if the holder has one of several permits
		 * @return the changed holder
		 */
		public Holder permit(boolean permit) {
			return new Holder(this.owner, this.state, this.mode, this.remaining, permit);
		}

	}

	/**
	 * A waiter: an instance, or a fair request, that waits for a key.
	 *
	 * @param instance the instance: the part of the owner tokens before the last colon
	 * @param mode which other owners may have the key at the same time
	 * @param ticket the owner token of a fair request, which has a separate place in the
	 * queue; {@code null} for the place that all other requests of the instance in that
	 * mode share
	 * @param permits how many owners may have the key together, according to the waiting
	 * request; 1 for a request without {@linkplain LockRequest#permits(int) permits}
	 */
	public record Waiter(String instance, LockMode mode, @Nullable String ticket, int permits) {
	}

}
