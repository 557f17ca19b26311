/**
 * Holds a lock for as long as a subscription lasts: what needs Reactor. Nothing here is
 * loaded unless it is there.
 */
@NullMarked
package io.github.distributedlock.reactive;

import org.jspecify.annotations.NullMarked;
