/**
 * Locks in code that uses Reactor. The classes of this package are not loaded without
 * Reactor.
 */
@NullMarked
package io.github.distributedlock.reactive;

import org.jspecify.annotations.NullMarked;
