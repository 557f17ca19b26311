/**
 * Shows what happens to locks. Locks ask nothing of this package.
 */
@NullMarked
package io.github.distributedlock.observability;

import org.jspecify.annotations.NullMarked;
