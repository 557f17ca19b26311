/**
 * The engine: all that is the same on every store. This package is its face, with
 * requests, reentrancy and handles, and how a request waits for a key. What this JVM owns
 * then is the matter of {@link io.github.distributedlock.engine.lease}. Knows no Spring.
 * <p>
 * The way of a request: {@link io.github.distributedlock.engine.LockEngine} checks it
 * ({@code Requests}) and counts it ({@code RunningCalls}). {@code Acquirer} re-enters
 * what the thread holds ({@code Reentrancy}) or acquires the keys, several by a
 * {@code RequestAcquisition}. The holds become an {@code EngineHandle}. Closing the last
 * handle of a hold gives it to the {@code Releaser}.
 */
@NullMarked
package io.github.distributedlock.engine;

import org.jspecify.annotations.NullMarked;
