package io.github.distributedlock.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import io.github.distributedlock.CurrentLock;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockUpgradeException;
import io.github.distributedlock.engine.lease.Hold;
import io.github.distributedlock.engine.lease.HoldOptions;
import io.github.distributedlock.engine.lease.LossHandler;
import io.github.distributedlock.engine.lease.Releaser;
import io.github.distributedlock.engine.queue.AcquireContext;
import io.github.distributedlock.engine.queue.KeyAcquirer;
import io.github.distributedlock.engine.queue.MultiKeyAcquirer;
import io.github.distributedlock.engine.queue.Wait;
import io.github.distributedlock.engine.runtime.Batches;
import io.github.distributedlock.engine.runtime.Events;
import io.github.distributedlock.engine.runtime.Instance;
import io.github.distributedlock.engine.runtime.Text;
import org.jspecify.annotations.Nullable;

/**
 * Gets all keys of a request, or none: those that the calling thread holds already are
 * re-entered, the others come from the store, many at once where that is possible, else
 * one after the other.
 */
final class RequestAcquirer {

	private final Instance instance;

	private final KeyAcquirer keyAcquirer;

	private final MultiKeyAcquirer multiKeyAcquirer;

	private final Releaser releaser;

	private final LossHandler lossHandler;

	private final Events events;

	RequestAcquirer(AcquireContext context, Releaser releaser, LossHandler lossHandler, Events events) {
		this.instance = context.instance();
		this.keyAcquirer = new KeyAcquirer(context);
		this.multiKeyAcquirer = new MultiKeyAcquirer(context);
		this.releaser = releaser;
		this.lossHandler = lossHandler;
		this.events = events;
	}

	/**
	 * Re-enters the keys if the calling thread holds all of them. Asks nothing of the
	 * store and waits for nothing.
	 * @return a hold for each key, or {@code null} if one is not held
	 * @throws LockUpgradeException if it shares a key that is to be exclusive
	 * @throws IllegalArgumentException if what it holds cannot be what is asked for
	 */
	@Nullable List<Hold> reenter(List<String> keys, HoldOptions options) {
		if (keys.size() == 1) {
			Hold outer = reenter(keys.get(0), options);
			if (outer == null) {
				return null;
			}
			outer.keep(options);
			return List.of(outer);
		}
		long held = keys.stream().filter((key) -> find(key, (hold) -> honours(hold, options)) != null).count();
		return (held == keys.size()) ? reenterEach(keys, options) : null;
	}

	private @Nullable List<Hold> reenterEach(List<String> keys, HoldOptions options) {
		List<Hold> holds = new ArrayList<>(keys.size());
		for (String key : keys) {
			Hold hold = reenter(key, options);
			if (hold == null) {
				giveBack(holds);
				return null;
			}
			holds.add(hold);
		}
		holds.forEach((hold) -> hold.keep(options));
		return holds;
	}

	/**
	 * Acquires the keys, and re-enters those that the calling thread holds.
	 * @return a hold for each key, or {@code null} if one is busy
	 */
	@Nullable List<Hold> acquire(List<String> keys, HoldOptions options, Wait wait) throws InterruptedException {
		if (keys.size() == 1) {
			return acquireOne(keys, options, wait);
		}
		return acquireSeveral(keys, options, wait);
	}

	private @Nullable List<Hold> acquireOne(List<String> keys, HoldOptions options, Wait wait)
			throws InterruptedException {
		Hold hold = this.keyAcquirer.acquire(keys.get(0), this.instance.nextOwner(), options, wait);
		if (hold == null) {
			return null;
		}
		publish(keys, hold.owner(), options, wait);
		return List.of(hold);
	}

	private @Nullable List<Hold> acquireSeveral(List<String> keys, HoldOptions options, Wait wait)
			throws InterruptedException {
		List<Hold> holds = new ArrayList<>(keys.size());
		boolean complete = false;
		try {
			String owner = this.instance.nextOwner();
			for (List<String> batch : Batches.of(keys)) {
				if (!acquireJointly(batch, owner, options, wait, holds)) {
					owner = this.instance.nextOwner(); // The other may be cleaned up yet.
					if (!acquireOneByOne(batch, owner, options, wait, holds)) {
						return null;
					}
				}
			}
			publish(keys, owner, options, wait);
			holds.forEach((hold) -> hold.keep(options));
			complete = true;
			return holds;
		}
		finally {
			if (!complete) {
				giveBack(holds);
			}
		}
	}

	private boolean acquireJointly(List<String> keys, String owner, HoldOptions options, Wait wait, List<Hold> holds) {
		if (keys.stream().anyMatch((key) -> find(key, this.lossHandler::isStillHeld) != null)) {
			return false; // Some have to be re-entered.
		}
		List<Hold> joint = this.multiKeyAcquirer.acquire(keys, owner, options, wait);
		return joint != null && holds.addAll(joint);
	}

	private boolean acquireOneByOne(List<String> keys, String owner, HoldOptions options, Wait wait, List<Hold> holds)
			throws InterruptedException {
		for (String key : keys) {
			Hold outer = reenter(key, options);
			Hold hold = (outer != null) ? outer : this.keyAcquirer.acquire(key, owner, options, wait);
			if (hold == null) {
				return false;
			}
			holds.add(hold);
		}
		return true;
	}

	private void publish(List<String> keys, String owner, HoldOptions options, Wait wait) {
		if (this.events.areHeard()) {
			this.events.publish(new LockEvent.Acquired(options.name(), keys, owner, wait.waited()));
		}
	}

	private @Nullable Hold reenter(String key, HoldOptions options) {
		return find(key, (hold) -> honours(hold, options) && hold.reenter());
	}

	/**
	 * The calling thread's innermost hold of a key that fulfils a condition.
	 */
	private @Nullable Hold find(String key, Predicate<Hold> condition) {
		return CurrentLock
			.find(key,
					(handle) -> handle instanceof EngineHandle outer && outer.isOf(this.lossHandler)
							&& condition.test(outer.hold(key)))
			.map((handle) -> ((EngineHandle) handle).hold(key))
			.orElse(null);
	}

	/**
	 * Whether a hold is there to be re-entered; fails if it cannot be what is asked for.
	 */
	private boolean honours(Hold hold, HoldOptions options) {
		boolean held = this.lossHandler.isStillHeld(hold);
		if (held) {
			requireHonoured(options, hold);
		}
		return held;
	}

	private static void requireHonoured(HoldOptions options, Hold outer) {
		if (options.fenced() && outer.fencingToken().isEmpty()) {
			throw new IllegalArgumentException(
					"Lock '" + LockException.printable(outer.key()) + "' was requested as fenced, but this thread holds"
							+ " it without a fencing token already. Request the outer lock as fenced, too");
		}
		if (outer.options().isShared() && !options.isShared()) {
			throw new LockUpgradeException(
					"Lock '" + LockException.printable(outer.key()) + "' was requested as EXCLUSIVE, but this thread"
							+ " holds it as SHARED already, and would wait for itself",
					"request the outer lock as EXCLUSIVE, or give it back first");
		}
		long left = outer.longest();
		if (options.minHold() > left) {
			throw new IllegalArgumentException(
					"Lock '" + LockException.printable(outer.key()) + "' was requested with a minHoldTime of "
							+ Text.of(options.minHold()) + ", but this thread holds it already, with a "
							+ (outer.options().renewed() ? "maxHoldTime" : "leaseTime") + " that ends in "
							+ Text.of(left) + ". Request the outer lock with a longer one, or give it back first");
		}
	}

	/**
	 * Gives back what a handle could not be opened for.
	 */
	void giveBack(List<Hold> holds) {
		this.releaser.undo(holds.stream().filter(Hold::exit).toList());
	}

}
