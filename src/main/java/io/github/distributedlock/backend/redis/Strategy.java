package io.github.distributedlock.backend.redis;

import java.util.function.BiConsumer;

import io.github.distributedlock.backend.redis.RedisLockSettings.Atomicity;

import org.springframework.data.redis.connection.RedisConnection;

/**
 * A way to make the steps of a lock atomic.
 *
 * @param atomicity which of the settings it is
 * @param description it, in a word or two for the log
 * @param steps the steps
 * @param lanes the connections that they need
 * @param trial runs its commands on a key that does not exist, without an effect, and
 * fails if the server refuses one
 */
record Strategy(Atomicity atomicity, String description, Steps steps, Lanes lanes,
		BiConsumer<RedisConnection, byte[]> trial) {
}
