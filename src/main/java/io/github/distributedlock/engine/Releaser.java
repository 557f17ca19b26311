package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.backend.LockBackend;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives holds back, or hands them on. Never fails the caller: what the store cannot be
 * told now is left to the {@link Sweeper}.
 */
final class Releaser {

	private static final Logger logger = LoggerFactory.getLogger(LockEngine.class);

	private final LockBackend backend;

	private final LocalQueue queue;

	private final Watchdog watchdog;

	private final Losses losses;

	private final Sweeper sweeper;

	private final Events events;

	private final boolean handsOn;

	/**
	 * Creates it.
	 * @param handsOn whether keys may be handed on inside this JVM
	 */
	Releaser(LockBackend backend, LocalQueue queue, Watchdog watchdog, Losses losses, Sweeper sweeper, Events events,
			boolean handsOn) {
		this.backend = backend;
		this.queue = queue;
		this.watchdog = watchdog;
		this.losses = losses;
		this.sweeper = sweeper;
		this.events = events;
		this.handsOn = handsOn;
	}

	/**
	 * Gives back a hold whose last handle was closed.
	 */
	void release(Hold hold) {
		long rest = hold.rest();
		end(hold, rest, new LockEvent.Released(hold.terms.name(), hold.key, hold.owner(), hold.held()));
	}

	/**
	 * Gives back a hold that nobody ever had a handle of.
	 */
	void undo(Hold hold) {
		end(hold, 0, null);
	}

	private void end(Hold hold, long rest, LockEvent.@Nullable Released event) {
		Tenure tenure = hold.tenure;
		boolean told = false;
		if (this.losses.isStillHeld(hold) && mayHandOn(hold, rest) && this.queue.handOn(hold)) {
			publish(event);
			return;
		}
		if (tenure.beginRelease(hold)) {
			this.watchdog.unguard(tenure);
			try {
				told = Interrupts.deferredDuring(() -> tell(hold, rest));
			}
			finally {
				this.queue.ended(hold);
			}
		}
		if (tenure.unsettled && !tenure.isLeftToRunOut()) {
			this.sweeper.cleanUp(tenure.key, tenure.owner, tenure.terms.lease());
		}
		if (told) {
			publish(event);
		}
	}

	private boolean mayHandOn(Hold hold, long rest) {
		return this.handsOn && rest == 0 && hold.terms.handedOn();
	}

	private void publish(LockEvent.@Nullable Released event) {
		if (event != null) {
			this.events.publish(event);
		}
	}

	private boolean tell(Hold hold, long rest) {
		try {
			boolean owned = tell(this.backend, hold.key, hold.owner(), rest);
			if (!owned) {
				this.losses.discoveredAtRelease(hold.tenure);
			}
			return owned;
		}
		catch (RuntimeException ex) {
			logger.warn("Could not release lock '{}' of {}, trying again until its lease has run out in {}", hold.key,
					hold.owner(), Text.of(hold.tenure.leftOnServer()), ex);
			this.sweeper.release(hold.tenure, rest);
			this.events.publish(new LockEvent.ReleaseDeferred(hold.terms.name(), hold.key, hold.owner(),
					Failures.asBackendException("release", hold.key, ex)));
			return false;
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
