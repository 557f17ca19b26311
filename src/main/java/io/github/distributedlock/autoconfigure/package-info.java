/**
 * Binds, wires and explains: all that Spring Boot needs to know of this library. API are
 * the properties by their names, the auto-configuration by its own, and the annotation
 * for tests of slices.
 */
@NullMarked
package io.github.distributedlock.autoconfigure;

import org.jspecify.annotations.NullMarked;
