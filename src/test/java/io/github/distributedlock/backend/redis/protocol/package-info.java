/**
 * An explicit-state model of the lock protocol: what the scripts of the Redis backend and
 * the engine around them do, step by step, with every order of steps and every fault that
 * a run may meet. It stands next to the scripts because it has to change with them.
 */
@NullMarked
package io.github.distributedlock.backend.redis.protocol;

import org.jspecify.annotations.NullMarked;
