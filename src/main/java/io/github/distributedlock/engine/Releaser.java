package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

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

	private final BooleanSupplier handsOn;

	/**
	 * Creates it.
	 * @param handsOn whether keys may be handed on inside this JVM: not while others have
	 * to find them free, since nobody could tell us that they wait
	 */
	Releaser(LockBackend backend, LocalQueue queue, Watchdog watchdog, Losses losses, Sweeper sweeper, Events events,
			BooleanSupplier handsOn) {
		this.backend = backend;
		this.queue = queue;
		this.watchdog = watchdog;
		this.losses = losses;
		this.sweeper = sweeper;
		this.events = events;
		this.handsOn = handsOn;
	}

	/**
	 * Gives back holds whose last handle was closed: in one step if that is possible,
	 * else the last one first, and each whatever happens to the one before.
	 */
	void release(List<Hold> holds) {
		if (holds.size() > 1 && isOneStep(holds)) {
			releaseAtOnce(holds);
		}
		else {
			release(holds, holds.size() - 1);
		}
	}

	private void release(List<Hold> holds, int index) {
		if (index < 0) {
			return;
		}
		Hold hold = holds.get(index);
		try {
			end(hold, hold.rest(), this.events.areHeard() ? released(hold) : null);
		}
		finally {
			release(holds, index - 1);
		}
	}

	/**
	 * Gives back a hold that nobody ever had a handle of.
	 */
	void undo(Hold hold) {
		end(hold, 0, null);
	}

	private void end(Hold hold, long rest, LockEvent.@Nullable Released event) {
		if (this.losses.isStillHeld(hold) && mayHandOn(hold, rest) && this.queue.handOn(hold)) {
			publish(event);
			return;
		}
		boolean told = false;
		if (begin(hold)) {
			try {
				told = tell(hold, rest);
			}
			finally {
				this.queue.ended(hold);
			}
		}
		cleanUp(hold.tenure);
		if (told) {
			publish(event);
		}
	}

	private boolean mayHandOn(Hold hold, long rest) {
		return rest == 0 && hold.terms.handedOn() && this.handsOn.getAsBoolean();
	}

	private boolean isOneStep(List<Hold> holds) {
		String owner = holds.get(0).owner();
		return holds.stream().allMatch((hold) -> hold.owner().equals(owner) && hold.rest() == 0)
				&& this.backend.isOneStep(keys(holds));
	}

	private void releaseAtOnce(List<Hold> holds) {
		List<LockEvent.Released> told = new ArrayList<>();
		List<Hold> ours = holds.stream().filter(this::begin).toList();
		try {
			if (!ours.isEmpty()) {
				tell(ours, told);
			}
		}
		finally {
			ours.forEach(this.queue::ended);
		}
		holds.forEach((hold) -> cleanUp(hold.tenure));
		told.forEach(this::publish);
	}

	private boolean begin(Hold hold) {
		boolean begun = this.losses.isStillHeld(hold) && hold.tenure.beginRelease(hold);
		if (begun) {
			this.watchdog.unguard(hold.tenure);
		}
		return begun;
	}

	private void cleanUp(Tenure tenure) {
		if (tenure.isUnsettled() && !tenure.isLeftToRunOut()) {
			this.sweeper.cleanUp(tenure);
		}
	}

	private boolean tell(Hold hold, long rest) {
		try {
			return isOwned(hold, Interrupts.deferredDuring(() -> tell(this.backend, hold.key, hold.owner(), rest)));
		}
		catch (RuntimeException ex) {
			defer(hold, rest, ex);
			return false;
		}
	}

	private void tell(List<Hold> holds, List<LockEvent.Released> told) {
		List<LockEvent.Released> events = holds.stream().map(Releaser::released).toList();
		try {
			List<Boolean> owned = Interrupts
				.deferredDuring(() -> this.backend.releaseAll(keys(holds), holds.get(0).owner()));
			for (int i = 0; i < holds.size(); i++) {
				if (isOwned(holds.get(i), owned.get(i))) {
					told.add(events.get(i));
				}
			}
		}
		catch (RuntimeException ex) {
			holds.forEach((hold) -> defer(hold, 0, ex));
		}
	}

	private boolean isOwned(Hold hold, boolean answer) {
		if (!answer) {
			this.losses.discoveredAtRelease(hold.tenure);
		}
		return answer;
	}

	private void defer(Hold hold, long rest, RuntimeException ex) {
		logger.warn("Could not release lock '{}' of {}, trying again until its lease has run out in {}", hold.key,
				hold.owner(), Text.of(hold.tenure.leftOnServer()), ex);
		this.sweeper.release(hold.tenure, rest);
		this.events.publish(new LockEvent.ReleaseDeferred(hold.terms.name(), hold.key, hold.owner(),
				Failures.asBackendException("release", hold.key, ex)));
	}

	private void publish(LockEvent.@Nullable Released event) {
		if (event != null) {
			this.events.publish(event);
		}
	}

	private static LockEvent.Released released(Hold hold) {
		return new LockEvent.Released(hold.terms.name(), hold.key, hold.owner(), hold.held());
	}

	private static List<String> keys(List<Hold> holds) {
		return holds.stream().map((hold) -> hold.key).toList();
	}

	/**
	 * Tells the store that the owner has given the key back.
	 */
	static boolean tell(LockBackend backend, String key, String owner, long rest) {
		return (rest > 0) ? backend.park(key, owner, Duration.ofMillis(TimeUnit.NANOSECONDS.toMillis(rest) + 1))
				: backend.release(key, owner);
	}

}
