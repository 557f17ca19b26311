package io.github.distributedlock.backend;

import java.time.Duration;
import java.util.Set;

/**
 * A {@link WaiterQueue} that grants a released key: it makes the owner of the oldest
 * waiter's last claim the owner of the key, for as long as that claim
 * {@linkplain Claim#grantLease() says}, and then {@linkplain ReleaseNotification#granted
 * notifies} the waiter, which need not ask again.
 * <p>
 * Only claims with a {@linkplain Claim#number() number} are granted. What is kept of one
 * is replaced by the waiter's next claim, and gone when the waiter is. A key is granted
 * by each step that would otherwise reserve it: a release, a hand-over that yields, a
 * withdrawal, a claim that finds it free and is not the first. If the notification
 * reaches no one for certain, the key goes to the next waiter.
 * <p>
 * {@link #acquireOrRegister} and {@link OneStepHandOver#pass} also give the claim's owner
 * a key that one of the {@linkplain Claim#replaced() replaced} owners has. Like a key
 * that is taken, or that the claim's owner was granted before, it lasts for the
 * {@linkplain Claim#lease() full lease} then.
 */
public interface GrantingQueue extends WaiterQueue {

	/**
	 * Whether the claims of an instance may be granted, as far as that is known. Does no
	 * I/O.
	 * @param instance the instance
	 * @return {@code false} if they are not, so that numbers are useless
	 */
	boolean grantsTo(String instance);

	/**
	 * For how long a key is granted whose lease is longer: its owner has to hear of the
	 * grant, and to renew the lease after a third of that time. A waiter that stands
	 * still, or has died, keeps a granted key from others for as long.
	 * @return the time, in whole milliseconds; 3 s unless the store is slower than that
	 */
	default Duration grantLease() {
		return Duration.ofSeconds(3);
	}

	/**
	 * Ends a registration, as {@link #withdraw(String, Waiter)} does; also passes the key
	 * on if it was granted to one of these owners.
	 * @param key the user's key
	 * @param waiter the waiter, as it was {@linkplain Claim#waiter() registered}
	 * @param owners owner tokens of the same instance, none of which is in use
	 */
	void withdraw(String key, Waiter waiter, Set<String> owners);

	/**
	 * Undoes a claim that may have been carried out: gives the key back if the claim's
	 * owner owns it, and ends the registration of its waiter if no other owner has
	 * registered since.
	 * @param claim the claim
	 */
	void forget(Claim claim);

}
