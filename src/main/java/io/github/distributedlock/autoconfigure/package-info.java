/**
 * Binds, wires and explains: all that Spring Boot needs to know of this library. API are
 * the properties by their names, and the auto-configuration by its own.
 */
@NullMarked
package io.github.distributedlock.autoconfigure;

import org.jspecify.annotations.NullMarked;
