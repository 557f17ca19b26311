package io.github.distributedlock.backend;

import java.time.Duration;
import java.util.Objects;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockStatus;
import org.jspecify.annotations.Nullable;

/**
 * The owner or waiter in whose favour a key is busy: what a store answers to each attempt
 * that finds the key busy. A {@link LockStatus.Holder} is what users are shown, with the
 * remaining lease and with {@link LockStatus.State#KEPT}, which no store knows.
 *
 * @param name an owner token; for a reservation the instance that the key is kept for, or
 * the owner token of the fair request
 * @param state what the holder has
 * @param mode which owners may have the key together, {@code null} where the store does
 * not say so
 * @since 1.0
 */
public record Holder(String name, State state, @Nullable LockMode mode) {

	/**
	 * The state of a holder: what the holder has.
	 */
	public enum State {

		/**
		 * The holder owns the key.
		 */
		OWNER,

		/**
		 * The key is kept for the holder for a moment, since the holder's turn has come.
		 */
		RESERVATION,

		/**
		 * The holder owns the key no more, and has left the lease to expire.
		 */
		EXPIRING

	}

	/**
	 * Checks that the name and the state are not {@code null}.
	 */
	public Holder {
		Objects.requireNonNull(name, "name");
		Objects.requireNonNull(state, "state");
	}

	/**
	 * Returns the holder that owns a key.
	 * @param owner the owner token
	 * @return the holder
	 */
	public static Holder owner(String owner) {
		return new Holder(owner, State.OWNER, null);
	}

	/**
	 * Returns the holder that a key is reserved for.
	 * @param name the instance, or the owner token of a fair request
	 * @return the holder
	 */
	public static Holder reservation(String name) {
		return new Holder(name, State.RESERVATION, null);
	}

	/**
	 * Returns a holder that has left its lease to expire.
	 * @param owner the owner token
	 * @return the holder
	 */
	public static Holder expiring(String owner) {
		return new Holder(owner, State.EXPIRING, null);
	}

	/**
	 * Returns this holder in a mode.
	 * @param mode the mode, {@code null} if the mode is not known
	 * @return the holder in that mode
	 */
	public Holder in(@Nullable LockMode mode) {
		return new Holder(this.name, this.state, mode);
	}

	/**
	 * Describes the holder to users.
	 * @param mode which owners may have the key together, if the holder's own mode is not
	 * known
	 * @param remaining for how long the holder still has the key or the reservation,
	 * {@code null} if that is not known
	 * @return the description
	 */
	public LockStatus.Holder describe(LockMode mode, @Nullable Duration remaining) {
		LockStatus.State described = switch (this.state) {
			case OWNER -> LockStatus.State.HELD;
			case RESERVATION -> LockStatus.State.RESERVED;
			case EXPIRING -> LockStatus.State.EXPIRING;
		};
		return new LockStatus.Holder(this.name, described, (this.mode != null) ? this.mode : mode, remaining);
	}

	/**
	 * Returns whether the key is only reserved for the holder.
	 * @return {@code true} if the state is {@link State#RESERVATION}
	 */
	public boolean isReservation() {
		return this.state == State.RESERVATION;
	}

	/**
	 * Returns the token of the owner that has the key, or had the key last.
	 * @return the token, {@code null} if the key is reserved for the next owner
	 */
	public @Nullable String owner() {
		return isReservation() ? null : this.name;
	}

}
