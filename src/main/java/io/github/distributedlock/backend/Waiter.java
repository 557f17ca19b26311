package io.github.distributedlock.backend;

import java.util.Objects;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockStatus;
import org.jspecify.annotations.Nullable;

/**
 * The unit that a store registers as waiting for a key. All requests of an instance that
 * want the key alone are one waiter. All requests of that instance that want to share the
 * key are another waiter, and all requests with the same number of permits are one, too.
 * Each fair request is a waiter by itself. A store compares waiters; a
 * {@link LockStatus.Waiter} only shows one to users, whose package knows no store.
 *
 * @param instance the engine that waits; without white space, colons and semicolons
 * @param mode which owners would have the key together
 * @param ticket the owner token of a fair request, which keeps its place until it has the
 * key or gives up; {@code null} for the other requests of the instance
 * @param permits how many owners may have the key together, the waiter included; 1 unless
 * the waiter is exclusive and not fair
 * @since 1.0
 */
public record Waiter(String instance, LockMode mode, @Nullable String ticket, int permits) {

	/**
	 * Checks that the instance and the mode are not {@code null}.
	 */
	public Waiter {
		Objects.requireNonNull(instance, "instance");
		Objects.requireNonNull(mode, "mode");
	}

	/**
	 * Returns the waiter for the requests of an instance that want a key alone.
	 * @param instance the instance
	 * @return the waiter
	 */
	public static Waiter exclusive(String instance) {
		return permits(instance, 1);
	}

	/**
	 * Returns the waiter for the requests of an instance that want to share a key.
	 * @param instance the instance
	 * @return the waiter
	 */
	public static Waiter shared(String instance) {
		return new Waiter(instance, LockMode.SHARED, null, 1);
	}

	/**
	 * Returns the waiter for the requests of an instance that want one of several
	 * permits.
	 * @param instance the instance
	 * @param permits how many permits there are; with 1, the waiter wants the key alone
	 * @return the waiter
	 */
	public static Waiter permits(String instance, int permits) {
		return new Waiter(instance, LockMode.EXCLUSIVE, null, permits);
	}

	/**
	 * Returns the waiter for a fair request.
	 * @param instance the instance of the request
	 * @param owner the owner token of the request
	 * @return the waiter
	 */
	public static Waiter fair(String instance, String owner) {
		return new Waiter(instance, LockMode.EXCLUSIVE, owner, 1);
	}

	/**
	 * Describes the waiter to users.
	 * @return the description
	 */
	public LockStatus.Waiter describe() {
		return new LockStatus.Waiter(this.instance, this.mode, this.ticket, this.permits);
	}

	/**
	 * Returns whether the waiter would share the key.
	 * @return {@code true} if the mode is {@link LockMode#SHARED}
	 */
	public boolean isShared() {
		return this.mode == LockMode.SHARED;
	}

	/**
	 * Returns whether the waiter is a single request with a place of its own.
	 * @return {@code true} if the request is fair
	 */
	public boolean isFair() {
		return this.ticket != null;
	}

}
