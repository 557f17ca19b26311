/**
 * What the other rooms of the engine run on, without knowing of any lock: clocks and
 * threads ({@code EngineTime}, {@code Workers}, {@code EngineThreads},
 * {@code SerialTasks}, {@code NodeTasks}), the store and its nodes ({@code Store},
 * {@code Nodes}, {@code Batches}), this instance and whether requests are served
 * ({@code Instance}, {@code Lifecycle}), events and code of the application
 * ({@code Events}, {@code UserCode}), failures, pauses and text ({@code Failures},
 * {@code Backoff}, {@code Text}).
 */
@NullMarked
package io.github.distributedlock.engine.runtime;

import org.jspecify.annotations.NullMarked;
