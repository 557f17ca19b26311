/**
 * The engine: all that is the same on every store. This package is its face, with
 * requests, reentrancy, handles, and all keys of a request or none. Knows no Spring.
 * <p>
 * Its rooms, each of which uses only those after it:
 * {@link io.github.distributedlock.engine.queue} is how a request waits for a key,
 * {@link io.github.distributedlock.engine.lease} is what this JVM owns, and
 * {@link io.github.distributedlock.engine.runtime} is what they run on.
 * <p>
 * The way of a request: {@link io.github.distributedlock.engine.LockEngine} checks it
 * ({@code Requests}) and counts it ({@code RunningCalls}). {@code RequestAcquirer}
 * re-enters what the thread holds and acquires the rest. The holds become an
 * {@code EngineHandle}. Closing the last handle of a hold gives it to the
 * {@code Releaser}.
 */
@NullMarked
package io.github.distributedlock.engine;

import org.jspecify.annotations.NullMarked;
