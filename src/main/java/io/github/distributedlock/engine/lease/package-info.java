/**
 * What this JVM owns in the store, how it is kept, and how it ends.
 * <p>
 * The way of a key: an {@code Ownership} begins with the answer of the store, and its
 * {@code Lease} before that. One {@code Hold} after the other may have it. The
 * {@code Watchdog} finds what is to be renewed. {@code Leases}, through which the engine
 * uses this package, renews it, and makes a lease longer on demand. It ends once: the
 * {@code Releaser} releases it or leaves it to the next local request, or {@code Leases}
 * declares it lost. What the store has not answered is repeated by the {@code Sweeper}.
 * <p>
 * The clocks, the threads and the events to listeners that this and the engine run on are
 * here, too.
 */
@NullMarked
package io.github.distributedlock.engine.lease;

import org.jspecify.annotations.NullMarked;
