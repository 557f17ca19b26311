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
 */
public record Claim(String key, String owner, String instance, Duration lease) {
}
