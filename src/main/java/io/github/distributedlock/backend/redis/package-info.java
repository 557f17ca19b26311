/**
 * Redis behind the storage SPI, over Spring Data Redis alone.
 */
@NullMarked
package io.github.distributedlock.backend.redis;

import org.jspecify.annotations.NullMarked;
