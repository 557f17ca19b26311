package io.github.distributedlock.backend;

import java.time.Duration;

/**
 * What is asked of the store to become, or to stay, the owner of a key.
 *
 * @param key the user's key
 * @param owner the owner token, unique for each acquisition; begins with the instance
 * @param instance the JVM that asks, as it {@linkplain LockBackend#listen listens}
 * @param lease for how long, from the moment at which the store carries it out; whole
 * milliseconds
 * @param fenced whether the owner is to get a fencing token with the key: a number
 * greater than all that the key's owners got before. The time in microseconds is one,
 * where it is; so a store that forgets the last one still does not go back.
 */
public record Claim(String key, String owner, String instance, Duration lease, boolean fenced) {

	/**
	 * Claims a key without a fencing token.
	 * @param key the user's key
	 * @param owner the owner token
	 * @param instance the JVM that asks
	 * @param lease for how long
	 */
	public Claim(String key, String owner, String instance, Duration lease) {
		this(key, owner, instance, lease, false);
	}
}
