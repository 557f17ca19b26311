/**
 * The engine: all that is the same on every store. Knows no Spring.
 * <p>
 * The way of a request: {@link io.github.distributedlock.engine.LockEngine} counts the
 * request ({@code Lifecycle}), and {@code Acquirer} checks the request. {@code Acquirer}
 * re-enters keys that the thread holds ({@code Reentrancy}) or acquires the keys, several
 * by a {@code RequestAcquisition}. The holds become an {@code EngineHandle}. Closing the
 * last handle of a hold gives the hold to the {@code Releaser}.
 * <p>
 * The way of a key: an {@code Ownership} begins with the answer of the store, and its
 * {@code Lease} before that. One {@code Hold} after the other may have the ownership. The
 * {@code Watchdog} finds the leases that are to be renewed, and {@code Leases} renews
 * them, or makes a lease longer on demand. An ownership ends once: the {@code Releaser}
 * releases the key or leaves the key to the next local request, or {@code Leases}
 * declares the key lost. The {@code Sweeper} repeats each release that the store has not
 * answered.
 */
@NullMarked
package io.github.distributedlock.engine;

import org.jspecify.annotations.NullMarked;
