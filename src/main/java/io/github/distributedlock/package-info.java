/**
 * The nouns that users import: ask a {@link io.github.distributedlock.DistributedLock}
 * for a {@link io.github.distributedlock.LockRequest} and get a
 * {@link io.github.distributedlock.LockHandle}. All that is public here is API, but for
 * {@link io.github.distributedlock.DurationRange}.
 */
@NullMarked
package io.github.distributedlock;

import org.jspecify.annotations.NullMarked;
