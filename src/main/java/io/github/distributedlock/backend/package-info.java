/**
 * The storage SPI: what a store must be able to do so that the lock engine can do the
 * rest. Implement {@link io.github.distributedlock.backend.LockBackend}, and let its
 * class in the contract test of the {@code tck} jar pass.
 */
@NullMarked
package io.github.distributedlock.backend;

import org.jspecify.annotations.NullMarked;
