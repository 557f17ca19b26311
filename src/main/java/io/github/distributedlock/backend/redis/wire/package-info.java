/**
 * What is on the wire: commands and the {@code Link} that sends them, names of keys and
 * channels, values of locks, and what a server's or a client's failures mean.
 */
@NullMarked
package io.github.distributedlock.backend.redis.wire;

import org.jspecify.annotations.NullMarked;
