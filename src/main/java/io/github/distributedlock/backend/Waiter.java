package io.github.distributedlock.backend;

import java.util.Objects;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockStatus;
import org.jspecify.annotations.Nullable;

/**
 * One of those that wait for a key, as a store tells them apart. The requests of an
 * instance that want the key alone are one waiter. Those of it that want to share the key
 * are another, and so are those with the same number of permits. Each fair request is a
 * waiter by itself.
 *
 * @param instance the engine that waits; without white space, colons and semicolons
 * @param mode which owners would have the key together
 * @param ticket the owner token of a fair request, which keeps its place until it has the
 * key or gives up; {@code null} for the other requests of the instance
 * @param permits how many owners may have the key together with it, itself included; 1
 * unless it is exclusive and not fair
 * @since 1.0
 */
public record Waiter(String instance, LockMode mode, @Nullable String ticket, int permits) {

	/**
	 * Checks what must be there.
	 */
	public Waiter {
		Objects.requireNonNull(instance, "instance");
		Objects.requireNonNull(mode, "mode");
	}

	/**
	 * The requests of an instance that want a key alone.
	 * @param instance the instance
	 * @return the waiter
	 */
	public static Waiter exclusive(String instance) {
		return permits(instance, 1);
	}

	/**
	 * The requests of an instance that want to share a key.
	 * @param instance the instance
	 * @return the waiter
	 */
	public static Waiter shared(String instance) {
		return new Waiter(instance, LockMode.SHARED, null, 1);
	}

	/**
	 * The requests of an instance that want one of several permits.
	 * @param instance the instance
	 * @param permits how many there are; with 1, those that want a key alone
	 * @return the waiter
	 */
	public static Waiter permits(String instance, int permits) {
		return new Waiter(instance, LockMode.EXCLUSIVE, null, permits);
	}

	/**
	 * A fair request.
	 * @param instance its instance
	 * @param owner its owner token
	 * @return the waiter
	 */
	public static Waiter fair(String instance, String owner) {
		return new Waiter(instance, LockMode.EXCLUSIVE, owner, 1);
	}

	/**
	 * Describes it to users.
	 * @return what users see of it
	 */
	public LockStatus.Waiter describe() {
		return new LockStatus.Waiter(this.instance, this.mode, this.ticket, this.permits);
	}

	/**
	 * Whether it would share the key.
	 * @return {@code true} if it would
	 */
	public boolean isShared() {
		return this.mode == LockMode.SHARED;
	}

	/**
	 * Whether it is a single request with a place of its own.
	 * @return {@code true} if it is
	 */
	public boolean isFair() {
		return this.ticket != null;
	}

}
