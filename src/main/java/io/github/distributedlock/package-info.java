/**
 * The types that users import: a {@link io.github.distributedlock.DistributedLock} takes
 * a {@link io.github.distributedlock.LockRequest} and returns a
 * {@link io.github.distributedlock.LockHandle}. All public types of this package are API.
 */
@NullMarked
package io.github.distributedlock;

import org.jspecify.annotations.NullMarked;
