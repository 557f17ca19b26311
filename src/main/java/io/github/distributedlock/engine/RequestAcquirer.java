package io.github.distributedlock.engine;

import java.util.ArrayList;
import java.util.List;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.engine.lease.Hold;
import io.github.distributedlock.engine.lease.HoldOptions;
import io.github.distributedlock.engine.queue.AcquireContext;
import io.github.distributedlock.engine.queue.KeyAcquirer;
import io.github.distributedlock.engine.queue.MultiKeyAcquirer;
import io.github.distributedlock.engine.queue.Wait;
import io.github.distributedlock.engine.runtime.Batches;
import io.github.distributedlock.engine.runtime.Events;
import io.github.distributedlock.engine.runtime.Instance;
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

	private final Reentrancy reentrancy;

	private final Events events;

	RequestAcquirer(AcquireContext context, Reentrancy reentrancy, Events events) {
		this.instance = context.instance();
		this.keyAcquirer = new KeyAcquirer(context);
		this.multiKeyAcquirer = new MultiKeyAcquirer(context);
		this.reentrancy = reentrancy;
		this.events = events;
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
				this.reentrancy.undo(holds);
			}
		}
	}

	private boolean acquireJointly(List<String> keys, String owner, HoldOptions options, Wait wait, List<Hold> holds) {
		if (this.reentrancy.holdsAny(keys)) {
			return false; // Some have to be re-entered.
		}
		List<Hold> joint = this.multiKeyAcquirer.acquire(keys, owner, options, wait);
		return joint != null && holds.addAll(joint);
	}

	private boolean acquireOneByOne(List<String> keys, String owner, HoldOptions options, Wait wait, List<Hold> holds)
			throws InterruptedException {
		for (String key : keys) {
			Hold outer = this.reentrancy.reenter(key, options);
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

}
