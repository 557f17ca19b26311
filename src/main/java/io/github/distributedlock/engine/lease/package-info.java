/**
 * What this JVM owns in the store, how it is kept, and how it ends.
 * <p>
 * The way of a key: an {@code Ownership} begins with the answer of the store, and its
 * {@code Lease} before that. One {@code Hold} after the other may have it. The
 * {@code Watchdog} plans a {@code Renewal} for each, and a {@code RenewalRound} carries
 * out those that are due; the {@code Extender} makes a lease longer on demand. It ends
 * once: the {@code Releaser} gives it back or leaves it to the next local request, at its
 * {@code QueuePlace}; or the {@code LossHandler} declares it lost and tells each
 * {@code AttachedHandle}. What the store could not be told ({@code Deferrals}) is left to
 * the {@code Sweeper} as a {@code CleanUpTask}.
 */
@NullMarked
package io.github.distributedlock.engine.lease;

import org.jspecify.annotations.NullMarked;
