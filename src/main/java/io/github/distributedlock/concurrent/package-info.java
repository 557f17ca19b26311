/**
 * Implements the interfaces of {@link java.util.concurrent.locks} with locks of keys, for
 * code that is written for those interfaces.
 */
@NullMarked
package io.github.distributedlock.concurrent;

import org.jspecify.annotations.NullMarked;
