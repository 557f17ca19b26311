package io.github.distributedlock.backend;

import java.time.Duration;

/**
 * A {@link LockBackend} that keeps a place for each waiter, and reserves a released key
 * for the first of them. Without it a released key goes to whoever asks first.
 * <p>
 * An instance that has died vanishes from the places by itself. A reservation that nobody
 * takes runs out.
 */
public interface WaiterQueue {

	/**
	 * Makes the claim's owner the owner of a key that is free, reserved for its
	 * {@linkplain Claim#waiter() waiter}, or its own already, with a full lease, and ends
	 * the registration of its waiter. Otherwise, in the same step, registers the waiter;
	 * one that is registered keeps its place. Does not register before the instance
	 * {@linkplain ReleaseNotifications#listen listens} for certain, if the store notifies
	 * and can say so.
	 * @param claim the claim
	 * @return whether it is the owner now; if not, and if the store knows, also in how
	 * long the key is free unless its lease is renewed: nobody is notified then, so the
	 * engine asks again
	 */
	AcquireResult acquireOrRegister(Claim claim);

	/**
	 * Ends a registration. If the key is free or reserved for this waiter, that passes to
	 * the next one: the key is reserved for it, or becomes free.
	 * @param key the user's key
	 * @param waiter the waiter, as it was {@linkplain Claim#waiter() registered}
	 */
	void withdraw(String key, Waiter waiter);

	/**
	 * How long a released key is kept for the waiter whose turn it is. A waiter that
	 * polls asks as often as that, or its reservations run out.
	 * @return the time, from 20 milliseconds; always the same
	 */
	Duration reservation();

	/**
	 * Whether the waiters of an instance, but for fair requests, are registered. A store
	 * may refuse that to an instance to which notifications are known not to arrive, so
	 * that no key is reserved in vain. Then a key that is released is free for a moment.
	 * Does no I/O.
	 * @param instance the instance
	 * @return {@code true} unless it is known that they are not
	 */
	default boolean keepsPlacesOf(String instance) {
		return true;
	}

}
