package io.github.distributedlock.engine.queue;

import java.util.OptionalLong;
import java.util.Set;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.ReleaseNotifications.Listening;
import io.github.distributedlock.engine.lease.Hold;
import io.github.distributedlock.engine.lease.HoldOptions;
import io.github.distributedlock.engine.lease.Ownership;
import io.github.distributedlock.engine.lease.Sweeper;
import io.github.distributedlock.engine.lease.Watchdog;
import io.github.distributedlock.engine.runtime.EngineTime;
import io.github.distributedlock.engine.runtime.Instance;
import io.github.distributedlock.engine.runtime.Lifecycle;
import io.github.distributedlock.engine.runtime.Store;

/**
 * What all requests of an engine acquire their keys with.
 *
 * @param store the store
 * @param listening tells whether release notifications arrive
 * @param pollInterval how often to poll while they do not
 * @param queue the local queues
 * @param wakeUps wakes local requests
 * @param fairPollers which of the fair requests polls
 * @param handOver what becomes of a key that was left to the next local request
 * @param watchdog renews leases
 * @param sweeper undoes what was not answered
 * @param instance this instance
 * @param lifecycle whether requests are served
 * @param contention which keys will have to be waited for
 * @param time the clocks
 */
public record AcquireContext(Store store, Listening listening, PollInterval pollInterval, LocalQueue queue,
		WakeUps wakeUps, FairPollers fairPollers, HandOver handOver, Watchdog watchdog, Sweeper sweeper,
		Instance instance, Lifecycle lifecycle, Contention contention, EngineTime time) {

	/**
	 * Begins to hold what the store has given.
	 * @return the hold, guarded
	 */
	Hold begin(Ownership ownership, QueueNode node, HoldOptions options, OptionalLong fencingToken) {
		Hold hold = new Hold(ownership, node, options, fencingToken, this.time);
		ownership.take(hold);
		acquired(node, ownership.owner());
		this.watchdog.guard(ownership);
		return hold;
	}

	/**
	 * The store has given a key to a request, so it has to take it from others that may
	 * have been granted it.
	 */
	void acquired(QueueNode node, String owner) {
		Set<String> unwanted = node.acquired(owner);
		if (!unwanted.isEmpty()) { // Else nothing is made, not even an iterator.
			unwanted.forEach((each) -> this.sweeper.forget(node.queueKey.claim(each)));
		}
	}

	/**
	 * Gives a hold back unless its request was served all the time.
	 * @param era when the request was made
	 * @return the hold
	 * @throws LockBackendException if the engine was stopped meanwhile
	 */
	Hold requireServed(Hold hold, int era) {
		boolean served = false;
		try {
			this.lifecycle.requireServed(era, hold.key());
			served = true;
			return hold;
		}
		finally {
			if (!served) {
				this.handOver.undo(hold);
				hold.leavePlace();
			}
		}
	}

	Polls polls(Claim claim, HoldOptions options) {
		return new Polls(this.store, this.listening, this.pollInterval, claim, options.granted(), this.time);
	}

}
