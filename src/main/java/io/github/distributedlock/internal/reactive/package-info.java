/**
 * Holds a lock for as long as a subscription lasts. The classes of this package need
 * Reactor, and are not loaded without Reactor.
 */
@NullMarked
package io.github.distributedlock.internal.reactive;

import org.jspecify.annotations.NullMarked;
