/**
 * The storage SPI: what a store must be able to do so that the lock engine can do the
 * rest. Implement {@link io.github.distributedlock.backend.LockBackend}. To check a
 * store, extend {@code LockBackendContractTests} of the {@code tck} jar.
 */
@NullMarked
package io.github.distributedlock.backend;

import org.jspecify.annotations.NullMarked;
