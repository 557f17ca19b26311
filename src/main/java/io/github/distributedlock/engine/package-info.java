/**
 * The engine: all that is the same on every store. Knows no Spring.
 * <p>
 * The way of a request: {@link io.github.distributedlock.engine.LockEngine} counts it
 * ({@code Lifecycle}), and {@code Acquirer} checks it, re-enters what the thread holds
 * ({@code Reentrancy}) or acquires the keys, several by a {@code RequestAcquisition}. The
 * holds become an {@code EngineHandle}. Closing the last handle of a hold gives it to the
 * {@code Releaser}.
 * <p>
 * The way of a key: an {@code Ownership} begins with the answer of the store, and its
 * {@code Lease} before that. One {@code Hold} after the other may have it. The
 * {@code Watchdog} finds what is to be renewed, and {@code Leases} renews it, or makes a
 * lease longer on demand. It ends once: the {@code Releaser} releases it or leaves it to
 * the next local request, or {@code Leases} declares it lost. What the store has not
 * answered is repeated by the {@code Sweeper}.
 */
@NullMarked
package io.github.distributedlock.engine;

import org.jspecify.annotations.NullMarked;
