/**
 * Provides locks for ShedLock.
 */
@NullMarked
package io.github.distributedlock.shedlock;

import org.jspecify.annotations.NullMarked;
