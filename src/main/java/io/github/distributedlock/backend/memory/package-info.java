/**
 * Locks in the memory of one JVM: for tests and the smallest applications.
 */
@NullMarked
package io.github.distributedlock.backend.memory;

import org.jspecify.annotations.NullMarked;
