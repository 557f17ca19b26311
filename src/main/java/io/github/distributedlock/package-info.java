/**
 * The nouns that users import: ask a {@link io.github.distributedlock.DistributedLock}
 * for a {@link io.github.distributedlock.LockRequest} and get a
 * {@link io.github.distributedlock.LockHandle}.
 */
@NullMarked
package io.github.distributedlock;

import org.jspecify.annotations.NullMarked;
