/**
 * Binds, wires and explains: all that Spring Boot needs to know of this library. The API
 * consists of the property names, the name of the auto-configuration, and the annotation
 * for tests of slices.
 */
@NullMarked
package io.github.distributedlock.autoconfigure;

import org.jspecify.annotations.NullMarked;
