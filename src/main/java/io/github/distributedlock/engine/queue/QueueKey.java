package io.github.distributedlock.engine.queue;

import io.github.distributedlock.backend.Waiter;

/**
 * Whom the store tells apart from all others that wait for a key: those of this JVM that
 * want it alone, together; those that want to share it, together; each fair request by
 * itself.
 *
 * @param key the key
 * @param waiter as it is {@linkplain io.github.distributedlock.backend.Claim#waiter()
 * registered}
 */
public record QueueKey(String key, Waiter waiter) {
}
