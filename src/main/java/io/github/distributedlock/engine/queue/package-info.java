/**
 * How a request waits for a key: the local queue, and the loop that asks the store.
 */
@NullMarked
package io.github.distributedlock.engine.queue;

import org.jspecify.annotations.NullMarked;
