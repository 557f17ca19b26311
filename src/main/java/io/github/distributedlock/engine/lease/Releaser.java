package io.github.distributedlock.engine.lease;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.engine.runtime.Batches;
import io.github.distributedlock.engine.runtime.Events;
import io.github.distributedlock.engine.runtime.Interrupts;
import io.github.distributedlock.engine.runtime.Store;
import org.jspecify.annotations.Nullable;

/**
 * Gives holds back, or hands them on. Never fails the caller: what the store cannot be
 * told now is left to the {@link Sweeper}. Safe for use by many threads.
 * <p>
 * Invariant: a hold is given back by the thread that changes the state of its
 * {@link Ownership}; it leaves its place in the local queue after the store was told.
 */
public final class Releaser {

	/**
	 * What has become of a hold that was to be given back.
	 */
	private enum Outcome {

		RELEASED, DEFERRED, LOST

	}

	private final Store store;

	private final Watchdog watchdog;

	private final LossHandler lossHandler;

	private final Sweeper sweeper;

	private final Events events;

	private final Downgrader downgrader;

	private final boolean handsOn;

	/**
	 * Creates it.
	 * @param handsOn whether keys may be handed on inside this JVM
	 */
	public Releaser(Store store, Watchdog watchdog, LossHandler lossHandler, Sweeper sweeper, Events events,
			boolean handsOn) {
		this.store = store;
		this.watchdog = watchdog;
		this.lossHandler = lossHandler;
		this.sweeper = sweeper;
		this.events = events;
		this.downgrader = new Downgrader(store, lossHandler);
		this.handsOn = handsOn;
	}

	/**
	 * Gives back holds whose last handle was closed: many in one step where that is
	 * possible, else the last one first, and each whatever happens to the one before.
	 * @return whether all were held until now, as far as the store could be told
	 */
	public boolean release(List<Hold> holds) {
		return end(holds, true);
	}

	/**
	 * Lets others in beside holds that have become shared.
	 */
	public void downgrade(List<Hold> holds) {
		eachBackwards(holds, this.downgrader::downgrade);
	}

	/**
	 * Gives back holds that no handle was opened for.
	 */
	public void undo(List<Hold> holds) {
		end(holds, false);
	}

	private boolean end(List<Hold> holds, boolean used) {
		if (holds.size() == 1) {
			return end(holds.get(0), used, null);
		}
		Deferrals deferrals = deferrals();
		try {
			return eachBackwards(Batches.of(holds), (batch) -> (batch.size() > 1 && isEndedAtOnce(batch, used))
					? endAtOnce(batch, used, deferrals) : eachBackwards(batch, (hold) -> end(hold, used, deferrals)));
		}
		finally {
			deferrals.log();
		}
	}

	private Deferrals deferrals() {
		return new Deferrals(this.store.backend(), this.sweeper, this.events);
	}

	// Not recursive: there may be thousands. None is left out because of another.
	private static <T> boolean eachBackwards(List<T> all, Predicate<T> step) {
		boolean held = true;
		RuntimeException exception = null;
		Error error = null;
		for (int i = all.size() - 1; i >= 0; i--) {
			try {
				held &= step.test(all.get(i));
			}
			catch (RuntimeException ex) {
				exception = ex;
			}
			catch (Error ex) {
				error = ex;
			}
		}
		if (error != null) {
			throw error;
		}
		if (exception != null) {
			throw exception;
		}
		return held;
	}

	/**
	 * Gives one back.
	 * @param deferrals those of the others that end with it, {@code null} if it is alone
	 */
	private boolean end(Hold hold, boolean used, @Nullable Deferrals deferrals) {
		long rest = rest(hold, used);
		LockEvent.Released event = event(hold, used);
		boolean held = this.lossHandler.isStillHeld(hold);
		if (held && mayHandOn(hold, rest) && hold.handOn()) {
			publish(event);
			return true;
		}
		Outcome outcome = Outcome.LOST;
		if (held && begin(hold)) {
			try {
				outcome = tell(hold, rest, deferrals);
			}
			finally {
				hold.leavePlace();
			}
		}
		cleanUp(hold.ownership());
		if (outcome == Outcome.RELEASED) {
			publish(event);
		}
		return outcome != Outcome.LOST;
	}

	private boolean mayHandOn(Hold hold, long rest) {
		return rest == 0 && hold.options().handedOn() && !hold.isShared() && this.handsOn;
	}

	private boolean isEndedAtOnce(List<Hold> holds, boolean used) {
		String owner = holds.get(0).owner();
		return holds.stream().allMatch((hold) -> hold.owner().equals(owner) && rest(hold, used) == 0)
				&& this.store.coversInOneStep(keys(holds));
	}

	private boolean endAtOnce(List<Hold> holds, boolean used, Deferrals deferrals) {
		boolean held = false;
		List<LockEvent.Released> told = new ArrayList<>();
		List<Hold> ours = holds.stream().filter(this.lossHandler::isStillHeld).filter(this::begin).toList();
		try {
			if (!ours.isEmpty()) {
				held = tell(ours, used, deferrals, told);
			}
		}
		finally {
			ours.forEach(Hold::leavePlace);
		}
		holds.forEach((hold) -> cleanUp(hold.ownership()));
		told.forEach(this::publish);
		return held && ours.size() == holds.size();
	}

	private boolean begin(Hold hold) {
		boolean begun = hold.ownership().beginRelease(hold);
		if (begun) {
			this.watchdog.unguard(hold.ownership());
		}
		return begun;
	}

	private void cleanUp(Ownership ownership) {
		if (ownership.isUnsettled() && !ownership.isLeftToRunOut()) {
			this.sweeper.cleanUp(ownership);
		}
	}

	private Outcome tell(Hold hold, long rest, @Nullable Deferrals deferrals) {
		RuntimeException failure = (deferrals != null) ? deferrals.silence(hold.key()) : null;
		if (failure == null) {
			try {
				return isOwned(hold, release(hold, rest)) ? Outcome.RELEASED : Outcome.LOST;
			}
			catch (RuntimeException ex) {
				failure = ex;
			}
		}
		if (deferrals != null) {
			deferrals.add(hold, rest, failure);
		}
		else {
			Deferrals own = deferrals();
			own.add(hold, rest, failure);
			own.log();
		}
		return Outcome.DEFERRED;
	}

	private boolean release(Hold hold, long rest) {
		boolean interrupted = Interrupts.defer();
		try {
			return this.store.release(hold.key(), hold.owner(), rest);
		}
		finally {
			Interrupts.restore(interrupted);
		}
	}

	private boolean tell(List<Hold> holds, boolean used, Deferrals deferrals, List<LockEvent.Released> told) {
		List<LockEvent.@Nullable Released> events = new ArrayList<>(holds.size());
		holds.forEach((hold) -> events.add(event(hold, used)));
		RuntimeException failure = deferrals.silence(holds.get(0).key());
		if (failure == null) {
			try {
				List<Boolean> owned = Interrupts
					.deferredDuring(() -> this.store.releaseAll(keys(holds), holds.get(0).owner()));
				for (int i = 0; i < holds.size(); i++) {
					LockEvent.Released released = events.get(i);
					if (isOwned(holds.get(i), owned.get(i)) && released != null) {
						told.add(released);
					}
				}
				return !owned.contains(false);
			}
			catch (RuntimeException ex) {
				failure = ex;
			}
		}
		for (Hold hold : holds) {
			deferrals.add(hold, 0, failure);
		}
		return true;
	}

	private boolean isOwned(Hold hold, boolean answer) {
		if (!answer) {
			this.lossHandler.discoveredAtRelease(hold);
		}
		return answer;
	}

	private void publish(LockEvent.@Nullable Released event) {
		if (event != null) {
			this.events.publish(event);
		}
	}

	private static long rest(Hold hold, boolean used) {
		return used ? hold.rest() : 0;
	}

	private LockEvent.@Nullable Released event(Hold hold, boolean used) {
		return (used && this.events.areHeard())
				? new LockEvent.Released(hold.options().name(), hold.key(), hold.owner(), hold.held()) : null;
	}

	private static List<String> keys(List<Hold> holds) {
		return holds.stream().map(Hold::key).toList();
	}

}
