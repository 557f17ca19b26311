/**
 * The storage SPI: the operations of a store. The lock engine does the rest. Implement
 * {@link io.github.distributedlock.backend.LockBackend}. To check a store, extend
 * {@code LockBackendContractTests} of the {@code tck} jar.
 */
@NullMarked
package io.github.distributedlock.backend;

import org.jspecify.annotations.NullMarked;
