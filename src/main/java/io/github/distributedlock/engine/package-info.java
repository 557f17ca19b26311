/**
 * All that is the same on every store: queueing, waiting, reentrancy, leases, loss,
 * release retries. Knows no Spring.
 * <p>
 * The way of a request: {@link io.github.distributedlock.engine.LockEngine} → the
 * {@code LocalQueue} of its key → {@code KeyAcquirer} → a {@code Hold}, kept alive by the
 * {@code Watchdog}, until the {@code Releaser} gives it back or {@code LossHandler}
 * declares it lost. What could not be told to the store is left to the {@code Sweeper}.
 */
@NullMarked
package io.github.distributedlock.engine;

import org.jspecify.annotations.NullMarked;
