/**
 * What this JVM owns in the store, and how that is renewed, lost and given back.
 */
@NullMarked
package io.github.distributedlock.engine.lease;

import org.jspecify.annotations.NullMarked;
