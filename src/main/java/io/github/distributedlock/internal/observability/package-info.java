/**
 * Shows the events and the state of locks, and configures that. Locks ask nothing of this
 * package.
 */
@NullMarked
package io.github.distributedlock.internal.observability;

import org.jspecify.annotations.NullMarked;
