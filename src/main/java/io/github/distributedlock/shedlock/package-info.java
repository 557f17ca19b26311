/**
 * The locks of ShedLock.
 */
@NullMarked
package io.github.distributedlock.shedlock;

import org.jspecify.annotations.NullMarked;
