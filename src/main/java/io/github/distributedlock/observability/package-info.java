/**
 * Shows what happens to locks, without being asked by them.
 */
@NullMarked
package io.github.distributedlock.observability;

import org.jspecify.annotations.NullMarked;
