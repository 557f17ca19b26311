package io.github.distributedlock.backend.redis.atomic;

import java.util.function.BiConsumer;

import io.github.distributedlock.backend.redis.connection.Lanes;
import io.github.distributedlock.backend.redis.wire.Link;

/**
 * A way to make the steps of a lock atomic.
 *
 * @param atomicity which of the settings it is
 * @param description it, in a word or two for the log
 * @param steps the steps
 * @param lanes the connections that they need
 * @param trial sends all that its steps send but for wake-ups, on a key that is not in
 * use, without an effect, and fails if the server refuses anything
 */
public record AtomicityCandidate(Atomicity atomicity, String description, Steps steps, Lanes lanes,
		BiConsumer<Link, String> trial) {
}
