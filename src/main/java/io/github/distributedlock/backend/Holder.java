package io.github.distributedlock.backend;

import java.time.Duration;
import java.util.Objects;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockStatus;
import org.jspecify.annotations.Nullable;

/**
 * The one in whose favour a key is busy.
 *
 * @param name an owner token; of a reservation the instance that it is for, or the owner
 * token of the fair request
 * @param state what it has
 * @param mode which owners may have the key together, {@code null} where the store does
 * not say so
 * @since 1.0
 */
public record Holder(String name, State state, @Nullable LockMode mode) {

	/**
	 * What a holder has.
	 */
	public enum State {

		/**
		 * It owns the key.
		 */
		OWNER,

		/**
		 * The key is kept for it for a moment, since its turn has come.
		 */
		RESERVATION,

		/**
		 * It owns the key no more, and has left the lease to expire.
		 */
		EXPIRING

	}

	/**
	 * Checks what must be there.
	 */
	public Holder {
		Objects.requireNonNull(name, "name");
		Objects.requireNonNull(state, "state");
	}

	/**
	 * The owner of a key.
	 * @param owner the owner token
	 * @return the holder
	 */
	public static Holder owner(String owner) {
		return new Holder(owner, State.OWNER, null);
	}

	/**
	 * One for which a key is kept.
	 * @param name the instance, or the owner token of a fair request
	 * @return the holder
	 */
	public static Holder reservation(String name) {
		return new Holder(name, State.RESERVATION, null);
	}

	/**
	 * One that has left its lease to expire.
	 * @param owner the owner token
	 * @return the holder
	 */
	public static Holder expiring(String owner) {
		return new Holder(owner, State.EXPIRING, null);
	}

	/**
	 * Says in which mode.
	 * @param mode the mode, {@code null} if it is not known
	 * @return the holder in that mode
	 */
	public Holder in(@Nullable LockMode mode) {
		return new Holder(this.name, this.state, mode);
	}

	/**
	 * Describes it to users.
	 * @param mode which owners may have the key together, if it does not say so itself
	 * @param left how long it has what it has, {@code null} if that is not known
	 * @return what users see of it
	 */
	public LockStatus.Holder describe(LockMode mode, @Nullable Duration left) {
		LockStatus.State described = switch (this.state) {
			case OWNER -> LockStatus.State.HELD;
			case RESERVATION -> LockStatus.State.RESERVED;
			case EXPIRING -> LockStatus.State.EXPIRING;
		};
		return new LockStatus.Holder(this.name, described, (this.mode != null) ? this.mode : mode, left);
	}

	/**
	 * Whether the key is only kept for it.
	 * @return {@code true} if it is
	 */
	public boolean isReservation() {
		return this.state == State.RESERVATION;
	}

	/**
	 * The owner token of the one that owns the key, or owned it last.
	 * @return the token, {@code null} if the key is kept for the next owner
	 */
	public @Nullable String owner() {
		return isReservation() ? null : this.name;
	}

}
