/**
 * What the other rooms of the engine run on: clocks, threads and their tasks, events, the
 * identity of this instance and whether it is running, and text for messages.
 */
@NullMarked
package io.github.distributedlock.engine.runtime;

import org.jspecify.annotations.NullMarked;
