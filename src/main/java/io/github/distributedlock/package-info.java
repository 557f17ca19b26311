/**
 * The nouns that users import: give a {@link io.github.distributedlock.LockRequest} to a
 * {@link io.github.distributedlock.DistributedLock} and get a
 * {@link io.github.distributedlock.LockHandle}. All that is public here is API, but for
 * {@link io.github.distributedlock.DurationRange}.
 */
@NullMarked
package io.github.distributedlock;

import org.jspecify.annotations.NullMarked;
