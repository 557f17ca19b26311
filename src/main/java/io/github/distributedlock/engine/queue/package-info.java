/**
 * How a request waits for a key: the local queue, and the loop that asks the store.
 * <p>
 * The way of a request: {@code KeyAcquirer} enters the {@code LocalQueue} of the key and
 * gets a {@code QueueNode}. {@code AcquireLoop} waits until that is the current one, and
 * takes the key if the node before has left it ({@code HandOver}), or asks the store
 * ({@code AcquireAttempts}). If the key is busy it waits for a notification
 * ({@code WakeUps}) or the next poll ({@code Polls}, {@code FairPollers}). If the request
 * gives up, {@code Withdrawals} tell the store. A hold knows its node as a
 * {@link io.github.distributedlock.engine.lease.QueuePlace}. {@code MultiKeyAcquirer}
 * acquires several keys in one step, without waiting. One request at a time asks the
 * store about a key; all share one {@code AcquireContext}. A loop does not wait itself:
 * {@code Wait} parks the thread, or {@code AsyncDriver} the request.
 */
@NullMarked
package io.github.distributedlock.engine.queue;

import org.jspecify.annotations.NullMarked;
