package io.github.distributedlock;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * What a store knows of one key at one moment. Immutable, and does no I/O; it may be out
 * of date when it is read.
 *
 * @param key the key
 * @param holders those for which the key is busy: several only of a lock that is shared
 * or has {@linkplain LockRequest#permits(int) permits}, none if the key is free
 * @param waiters those that are registered in the store as waiting, first the one that
 * came first. One that has died is still among them until the store notices, which takes
 * about a second. Instances that poll, and requests that wait inside an instance for each
 * other, are not known to the store.
 * @param heldHere whether the owner of the key, or one of those that share it, acquired
 * it by the engine that was asked; a store leaves it {@code false}
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
	 * The status of a key as a store reports it, not held here.
	 * @param key the key
	 * @param holders those for which the key is busy
	 * @param waiters those that wait, first the one that came first
	 * @return the status
	 */
	public static LockStatus of(String key, List<Holder> holders, List<Waiter> waiters) {
		return new LockStatus(key, holders, waiters, false);
	}

	/**
	 * Says whether the key is held here.
	 * @param heldHere whether it is
	 * @return the status that says so
	 */
	public LockStatus heldHere(boolean heldHere) {
		return new LockStatus(this.key, this.holders, this.waiters, heldHere);
	}

	/**
	 * Says that owners only keep the key: nobody uses it.
	 * @param here which owner tokens are meant
	 * @return the status that says so
	 */
	public LockStatus kept(Predicate<String> here) {
		return new LockStatus(this.key,
				this.holders.stream()
					.map((holder) -> (holder.state == State.HELD && here.test(holder.owner))
							? new Holder(holder.owner, State.KEPT, holder.mode, holder.remaining) : holder)
					.toList(),
				this.waiters, this.heldHere);
	}

	/**
	 * Whether the key has no {@linkplain #holders() holder}. A fair request may still
	 * have to let waiters go first.
	 * @return whether there is no holder
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
	 * What a holder has.
	 */
	public enum State {

		/**
		 * It owns the key.
		 */
		HELD,

		/**
		 * It owns the key, and nobody uses it: the key
		 * {@linkplain LockRequest#keepTime(java.time.Duration) stays} with the JVM that
		 * was asked, and goes when another one wants it. Those that other JVMs keep look
		 * as if they were held.
		 */
		KEPT,

		/**
		 * The key is kept for it for a moment, since its turn has come.
		 */
		RESERVED,

		/**
		 * It has released the key, which stays busy until a minimum time, or its lease,
		 * is over.
		 */
		EXPIRING

	}

	/**
	 * One for which a key is busy.
	 *
	 * @param owner its owner token, {@code app@host/pid#random:n}; of a reservation that
	 * is not for a fair request, the instance, which is the part before the last colon
	 * @param state what it has
	 * @param mode which owners may have the key together with it
	 * @param remaining how long it has it unless it is renewed, {@code null} if the store
	 * does not say so
	 * @param permit whether it has one of several {@linkplain LockRequest#permits(int)
	 * permits}. How many there are is in no store: each request that waits says so, and
	 * each {@link EngineSnapshot.Hold}
	 */
	public record Holder(String owner, State state, LockMode mode, @Nullable Duration remaining, boolean permit) {

		/**
		 * Creates one that has no permit, but the key.
		 * @param owner its owner token
		 * @param state what it has
		 * @param mode which owners may have the key together with it
		 * @param remaining how long it has it, {@code null} if the store does not say so
		 */
		public Holder(String owner, State state, LockMode mode, @Nullable Duration remaining) {
			this(owner, state, mode, remaining, false);
		}

		/**
		 * Says whether it has one of several permits.
		 * @param permit whether it has
		 * @return the holder that says so
		 */
		public Holder permit(boolean permit) {
			return new Holder(this.owner, this.state, this.mode, this.remaining, permit);
		}

	}

	/**
	 * One that waits for a key.
	 *
	 * @param instance the instance: the part of its owner tokens before the last colon
	 * @param mode which owners may have the key together with it
	 * @param ticket the owner token of a fair request, which has a place of its own;
	 * {@code null} for all other requests of the instance in that mode
	 * @param permits how many owners may have the key together, as the request that waits
	 * says; 1 for one that has no {@linkplain LockRequest#permits(int) permits}
	 */
	public record Waiter(String instance, LockMode mode, @Nullable String ticket, int permits) {
	}

}
