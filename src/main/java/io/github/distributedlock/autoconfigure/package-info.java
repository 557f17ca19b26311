/**
 * Binds, wires and explains: all that Spring Boot needs to know of this library.
 */
@NullMarked
package io.github.distributedlock.autoconfigure;

import org.jspecify.annotations.NullMarked;
