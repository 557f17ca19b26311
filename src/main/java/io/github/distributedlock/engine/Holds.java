package io.github.distributedlock.engine;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import io.github.distributedlock.CurrentLock;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import org.jspecify.annotations.Nullable;

/**
 * Gets all keys of a request, or none: those that the calling thread holds already are
 * re-entered, the others come from the store under one owner, at once if that is
 * possible, else one after the other.
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
	 * Acquires or re-enters the keys.
	 * @return a hold for each key, or {@code null} if one is busy
	 */
	@Nullable List<Hold> acquire(List<String> keys, Terms terms, Wait wait) throws InterruptedException {
		if (keys.size() == 1) {
			return acquireOne(keys, terms, wait);
		}
		List<Hold> joint = acquireJointly(keys, terms, wait);
		return (joint != null) ? joint : acquireOneByOne(keys, terms, wait);
	}

	private @Nullable List<Hold> acquireOne(List<String> keys, Terms terms, Wait wait) throws InterruptedException {
		Hold outer = reenter(keys.get(0), terms);
		if (outer != null) {
			outer.keepAtLeast(terms.minHold());
			return List.of(outer);
		}
		Hold hold = this.acquirer.acquire(keys.get(0), this.instance.nextOwner(), terms, wait);
		if (hold == null) {
			return null;
		}
		publish(keys, hold.owner(), terms, wait);
		return List.of(hold);
	}

	private @Nullable List<Hold> acquireOneByOne(List<String> keys, Terms terms, Wait wait)
			throws InterruptedException {
		List<Hold> holds = new ArrayList<>(keys.size());
		String owner = null;
		Hold got = null;
		boolean complete = false;
		try {
			for (String key : keys) {
				Hold hold = reenter(key, terms);
				if (hold == null) {
					owner = (owner != null) ? owner : this.instance.nextOwner();
					hold = this.acquirer.acquire(key, owner, terms, wait);
					got = hold;
				}
				if (hold == null) {
					return null;
				}
				holds.add(hold);
			}
			if (got != null) {
				publish(keys, got.owner(), terms, wait);
			}
			holds.forEach((hold) -> hold.keepAtLeast(terms.minHold()));
			complete = true;
			return holds;
		}
		finally {
			if (!complete) {
				giveBack(holds);
			}
		}
	}

	private @Nullable List<Hold> acquireJointly(List<String> keys, Terms terms, Wait wait) {
		if (CurrentLock.all().stream().anyMatch((handle) -> !Collections.disjoint(handle.keys(), keys))) {
			return null; // Some may have to be re-entered.
		}
		String owner = this.instance.nextOwner();
		List<Hold> holds = this.jointAcquirer.acquire(keys, owner, terms, wait);
		if (holds != null) {
			publish(keys, owner, terms, wait);
		}
		return holds;
	}

	private void publish(List<String> keys, String owner, Terms terms, Wait wait) {
		if (this.events.areHeard()) {
			this.events.publish(new LockEvent.Acquired(terms.name(), keys, owner, wait.waited()));
		}
	}

	private @Nullable Hold reenter(String key, Terms terms) {
		for (LockHandle handle : CurrentLock.all()) {
			if (handle instanceof EngineHandle outer && outer.isOf(this.losses)) {
				for (Hold hold : outer.holds()) {
					if (hold.key.equals(key) && this.losses.isStillHeld(hold)) {
						requireHonoured(terms, hold);
						if (hold.reenter()) {
							return hold;
						}
					}
				}
			}
		}
		return null;
	}

	private static void requireHonoured(Terms terms, Hold outer) {
		if (terms.fenced() && outer.fencingToken.isEmpty()) {
			throw new IllegalArgumentException("Lock '" + outer.key + "' was requested as fenced, but this thread holds"
					+ " it without a fencing token already. Request the outer lock as fenced, too");
		}
		if (outer.terms.isShared() && !terms.isShared()) {
			throw new IllegalArgumentException("Lock '" + outer.key + "' was requested as EXCLUSIVE, but this thread"
					+ " holds it as SHARED already, and would wait for itself. Request the outer lock as EXCLUSIVE,"
					+ " or give it back first");
		}
	}

	/**
	 * Gives back what a handle could not be opened for.
	 */
	void giveBack(List<Hold> holds) {
		for (int i = holds.size() - 1; i >= 0; i--) {
			if (holds.get(i).exit()) {
				this.releaser.undo(holds.get(i));
			}
		}
	}

}
