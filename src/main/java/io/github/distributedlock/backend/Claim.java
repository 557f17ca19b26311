package io.github.distributedlock.backend;

import java.time.Duration;

import io.github.distributedlock.LockMode;

/**
 * What is asked of the store to become, or to stay, the owner of a key.
 *
 * @param key the user's key
 * @param owner the owner token, unique for each acquisition; begins with the instance and
 * a colon
 * @param instance the JVM that asks, as it {@linkplain LockBackend#listen listens}; has
 * no colon and no space
 * @param lease for how long, from the moment at which the store carries it out; whole
 * milliseconds
 * @param fenced whether the owner is to get a fencing token with the key: a number
 * greater than all that the key's owners got before. The time in microseconds is one,
 * where it is; so a store that forgets the last one still does not go back.
 * @param mode who may own the key together
 * @param fair whether it has a place of its own among those that wait, and never gets
 * ahead of who came before
 */
public record Claim(String key, String owner, String instance, Duration lease, boolean fenced, LockMode mode,
		boolean fair) {

	/**
	 * What the name of an instance's registration as a reader begins with.
	 */
	public static final String SHARED = "shared:";

	/**
	 * Claims a key alone, without a fencing token, and waits for it as an instance.
	 * @param key the user's key
	 * @param owner the owner token
	 * @param instance the JVM that asks
	 * @param lease for how long
	 */
	public Claim(String key, String owner, String instance, Duration lease) {
		this(key, owner, instance, lease, false, LockMode.EXCLUSIVE, false);
	}

	/**
	 * Claims a key alone, and waits for it as an instance.
	 * @param key the user's key
	 * @param owner the owner token
	 * @param instance the JVM that asks
	 * @param lease for how long
	 * @param fenced whether the owner is to get a fencing token
	 */
	public Claim(String key, String owner, String instance, Duration lease, boolean fenced) {
		this(key, owner, instance, lease, fenced, LockMode.EXCLUSIVE, false);
	}

	/**
	 * Who is registered if this has to wait: the owner itself if it is fair; otherwise
	 * its instance, whose readers are another waiter than its writers.
	 * @return the name of the waiter
	 */
	public String waiter() {
		if (this.fair) {
			return this.owner;
		}
		return (this.mode == LockMode.SHARED) ? SHARED + this.instance : this.instance;
	}

}
