package io.github.distributedlock.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import io.github.distributedlock.CurrentLock;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockUpgradeException;
import org.jspecify.annotations.Nullable;

/**
 * Gets all keys of a request, or none: those that the calling thread holds already are
 * re-entered, the others come from the store, many at once where that is possible, else
 * one after the other.
 */
final class Holds {

	private final Instance instance;

	private final Acquirer acquirer;

	private final JointAcquirer jointAcquirer;

	private final Releaser releaser;

	private final Losses losses;

	private final Events events;

	Holds(Instance instance, Acquirer acquirer, Releaser releaser, Losses losses, Events events) {
		this.instance = instance;
		this.acquirer = acquirer;
		this.jointAcquirer = new JointAcquirer(acquirer);
		this.releaser = releaser;
		this.losses = losses;
		this.events = events;
	}

	/**
	 * Re-enters the keys if the calling thread holds all of them. Asks nothing of the
	 * store and waits for nothing.
	 * @return a hold for each key, or {@code null} if one is not held
	 * @throws LockUpgradeException if it shares a key that is to be exclusive
	 * @throws IllegalArgumentException if what it holds cannot be what is asked for
	 */
	@Nullable List<Hold> reenter(List<String> keys, Terms terms) {
		if (keys.size() == 1) {
			Hold outer = reenter(keys.get(0), terms);
			if (outer == null) {
				return null;
			}
			outer.keep(terms);
			return List.of(outer);
		}
		long held = keys.stream().filter((key) -> find(key, (hold) -> honours(hold, terms)) != null).count();
		return (held == keys.size()) ? reenterEach(keys, terms) : null;
	}

	private @Nullable List<Hold> reenterEach(List<String> keys, Terms terms) {
		List<Hold> holds = new ArrayList<>(keys.size());
		for (String key : keys) {
			Hold hold = reenter(key, terms);
			if (hold == null) {
				giveBack(holds);
				return null;
			}
			holds.add(hold);
		}
		holds.forEach((hold) -> hold.keep(terms));
		return holds;
	}

	/**
	 * Acquires the keys, and re-enters those that the calling thread holds.
	 * @return a hold for each key, or {@code null} if one is busy
	 */
	@Nullable List<Hold> acquire(List<String> keys, Terms terms, Wait wait) throws InterruptedException {
		if (keys.size() == 1) {
			return acquireOne(keys, terms, wait);
		}
		return acquireSeveral(keys, terms, wait);
	}

	private @Nullable List<Hold> acquireOne(List<String> keys, Terms terms, Wait wait) throws InterruptedException {
		Hold hold = this.acquirer.acquire(keys.get(0), this.instance.nextOwner(), terms, wait);
		if (hold == null) {
			return null;
		}
		publish(keys, hold.owner(), terms, wait);
		return List.of(hold);
	}

	private @Nullable List<Hold> acquireSeveral(List<String> keys, Terms terms, Wait wait) throws InterruptedException {
		List<Hold> holds = new ArrayList<>(keys.size());
		boolean complete = false;
		try {
			String owner = this.instance.nextOwner();
			for (List<String> batch : Batches.of(keys)) {
				if (!acquireJointly(batch, owner, terms, wait, holds)) {
					owner = this.instance.nextOwner(); // The other may be cleaned up yet.
					if (!acquireOneByOne(batch, owner, terms, wait, holds)) {
						return null;
					}
				}
			}
			publish(keys, owner, terms, wait);
			holds.forEach((hold) -> hold.keep(terms));
			complete = true;
			return holds;
		}
		finally {
			if (!complete) {
				giveBack(holds);
			}
		}
	}

	private boolean acquireJointly(List<String> keys, String owner, Terms terms, Wait wait, List<Hold> holds) {
		if (keys.stream().anyMatch((key) -> find(key, this.losses::isStillHeld) != null)) {
			return false; // Some have to be re-entered.
		}
		List<Hold> joint = this.jointAcquirer.acquire(keys, owner, terms, wait);
		return joint != null && holds.addAll(joint);
	}

	private boolean acquireOneByOne(List<String> keys, String owner, Terms terms, Wait wait, List<Hold> holds)
			throws InterruptedException {
		for (String key : keys) {
			Hold outer = reenter(key, terms);
			Hold hold = (outer != null) ? outer : this.acquirer.acquire(key, owner, terms, wait);
			if (hold == null) {
				return false;
			}
			holds.add(hold);
		}
		return true;
	}

	private void publish(List<String> keys, String owner, Terms terms, Wait wait) {
		if (this.events.areHeard()) {
			this.events.publish(new LockEvent.Acquired(terms.name(), keys, owner, wait.waited()));
		}
	}

	private @Nullable Hold reenter(String key, Terms terms) {
		return find(key, (hold) -> honours(hold, terms) && hold.reenter());
	}

	/**
	 * The calling thread's innermost hold of a key that fulfils a condition.
	 */
	private @Nullable Hold find(String key, Predicate<Hold> condition) {
		return CurrentLock
			.find(key,
					(handle) -> handle instanceof EngineHandle outer && outer.isOf(this.losses)
							&& condition.test(outer.hold(key)))
			.map((handle) -> ((EngineHandle) handle).hold(key))
			.orElse(null);
	}

	/**
	 * Whether a hold is there to be re-entered; fails if it cannot be what is asked for.
	 */
	private boolean honours(Hold hold, Terms terms) {
		boolean held = this.losses.isStillHeld(hold);
		if (held) {
			requireHonoured(terms, hold);
		}
		return held;
	}

	private static void requireHonoured(Terms terms, Hold outer) {
		if (terms.fenced() && outer.fencingToken.isEmpty()) {
			throw new IllegalArgumentException(
					"Lock '" + LockException.printable(outer.key) + "' was requested as fenced, but this thread holds"
							+ " it without a fencing token already. Request the outer lock as fenced, too");
		}
		if (outer.terms.isShared() && !terms.isShared()) {
			throw new LockUpgradeException("Lock '" + LockException.printable(outer.key)
					+ "' was requested as EXCLUSIVE, but this thread"
					+ " holds it as SHARED already, and would wait for itself. Request the outer lock as EXCLUSIVE,"
					+ " or give it back first");
		}
		long left = outer.longest();
		if (terms.minHold() > left) {
			throw new IllegalArgumentException(
					"Lock '" + LockException.printable(outer.key) + "' was requested with a minHoldTime of "
							+ Text.of(terms.minHold()) + ", but this thread holds it already, with a "
							+ (outer.terms.renewed() ? "maxHoldTime" : "leaseTime") + " that ends in " + Text.of(left)
							+ ". Request the outer lock with a longer one, or give it back first");
		}
	}

	/**
	 * Gives back what a handle could not be opened for.
	 */
	void giveBack(List<Hold> holds) {
		this.releaser.undo(holds.stream().filter(Hold::exit).toList());
	}

}
