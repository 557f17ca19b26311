package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.backend.LockBackend;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives holds back. Never fails the caller: what the store cannot be told now is left to
 * the {@link Sweeper}.
 */
final class Releaser {

	private static final Logger logger = LoggerFactory.getLogger(LockEngine.class);

	private final LockBackend backend;

	private final LocalQueue queue;

	private final Watchdog watchdog;

	private final Losses losses;

	private final Sweeper sweeper;

	private final Events events;

	Releaser(LockBackend backend, LocalQueue queue, Watchdog watchdog, Losses losses, Sweeper sweeper, Events events) {
		this.backend = backend;
		this.queue = queue;
		this.watchdog = watchdog;
		this.losses = losses;
		this.sweeper = sweeper;
		this.events = events;
	}

	void release(Hold hold) {
		if (this.losses.isStillHeld(hold) && hold.beginRelease()) {
			this.watchdog.unguard(hold);
			giveBack(hold);
		}
		if (hold.unsettled && !hold.isLeftToRunOut()) {
			this.sweeper.cleanUp(hold.key, hold.owner, hold.terms.lease());
		}
	}

	private void giveBack(Hold hold) {
		try {
			Interrupts.deferredDuring(() -> {
				tell(hold);
				return null;
			});
		}
		finally {
			this.queue.leave(hold.turn);
		}
	}

	private void tell(Hold hold) {
		long rest = hold.rest();
		try {
			if (tell(this.backend, hold.key, hold.owner, rest)) {
				this.events.publish(new LockEvent.Released(hold.terms.name(), hold.key, hold.owner, hold.held()));
			}
			else {
				this.losses.discoveredAtRelease(hold);
			}
		}
		catch (RuntimeException ex) {
			logger.warn("Could not release lock '{}' of {}, trying again until its lease has run out in {}", hold.key,
					hold.owner, Text.of(hold.leftOnServer()), ex);
			this.sweeper.release(hold, rest);
			this.events.publish(new LockEvent.ReleaseDeferred(hold.terms.name(), hold.key, hold.owner,
					Failures.asBackendException("release", hold.key, ex)));
		}
	}

	/**
	 * Tells the store that the owner has given the key back.
	 */
	static boolean tell(LockBackend backend, String key, String owner, long rest) {
		return (rest > 0) ? backend.park(key, owner, Duration.ofMillis(TimeUnit.NANOSECONDS.toMillis(rest) + 1))
				: backend.release(key, owner);
	}

}
