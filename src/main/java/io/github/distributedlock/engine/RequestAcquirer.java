package io.github.distributedlock.engine;

import java.util.List;
import java.util.function.Consumer;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.engine.lease.Extender;
import io.github.distributedlock.engine.lease.Hold;
import io.github.distributedlock.engine.lease.HoldOptions;
import io.github.distributedlock.engine.lease.LossHandler;
import io.github.distributedlock.engine.lease.Sweeper;
import io.github.distributedlock.engine.queue.AcquireContext;
import io.github.distributedlock.engine.queue.KeyAcquirer;
import io.github.distributedlock.engine.queue.MultiKeyAcquirer;
import io.github.distributedlock.engine.queue.Wait;
import io.github.distributedlock.engine.queue.Waker;
import io.github.distributedlock.engine.runtime.EngineTime;
import io.github.distributedlock.engine.runtime.Events;
import io.github.distributedlock.engine.runtime.Instance;
import io.github.distributedlock.engine.runtime.Lifecycle;
import io.github.distributedlock.engine.runtime.Undo;
import org.jspecify.annotations.Nullable;

/**
 * Gets all keys of a request, or none: those that the calling thread holds already are
 * re-entered, the others come from the store, many at once where that is possible, else
 * one after the other.
 */
final class RequestAcquirer {

	final Instance instance;

	final KeyAcquirer keyAcquirer;

	final MultiKeyAcquirer multiKeyAcquirer;

	private final Reentrancy reentrancy;

	final LossHandler lossHandler;

	final Extender extender;

	private final Sweeper sweeper;

	final EngineTime time;

	final Lifecycle lifecycle;

	private final Consumer<List<Hold>> undo;

	private final Events events;

	/**
	 * Creates it.
	 * @param undo gives back holds that no handle was opened for
	 */
	RequestAcquirer(AcquireContext context, Reentrancy reentrancy, LossHandler lossHandler, Extender extender,
			Consumer<List<Hold>> undo, Events events) {
		this.instance = context.instance();
		this.lifecycle = context.lifecycle();
		this.keyAcquirer = new KeyAcquirer(context);
		this.multiKeyAcquirer = new MultiKeyAcquirer(context);
		this.reentrancy = reentrancy;
		this.lossHandler = lossHandler;
		this.extender = extender;
		this.sweeper = context.sweeper();
		this.time = context.time();
		this.undo = undo;
		this.events = events;
	}

	/**
	 * Acquires the keys, waiting on the calling thread, and re-enters those that it
	 * holds.
	 * @return a hold for each key, or {@code null} if one is busy
	 */
	@Nullable List<Hold> acquire(List<String> keys, HoldOptions options, Wait wait) throws InterruptedException {
		if (keys.size() == 1) {
			return acquireOne(keys, options, wait);
		}
		RequestAcquisition acquisition = new RequestAcquisition(this, this.reentrancy, keys, options, wait,
				this.lifecycle.requireServed(keys.get(0)), null);
		wait.run(acquisition);
		List<Hold> holds = acquisition.holds();
		if (holds != null) {
			Undo.ifFails(() -> publish(keys, acquisition.owner(), options, wait), () -> undo(holds));
		}
		return holds;
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

	/**
	 * Begins to acquire the keys for a request that no thread waits for.
	 * @param reentrancy that of whatever asks
	 * @param waker the request
	 */
	RequestAcquisition begin(Reentrancy reentrancy, List<String> keys, HoldOptions options, Wait wait, Waker waker) {
		return new RequestAcquisition(this, reentrancy, keys, options, wait,
				this.lifecycle.requireServedElsewhere(keys.get(0)), waker);
	}

	/**
	 * Gives back holds of a request that collects its keys. A key that is lost may be
	 * ours in the store yet, and nobody has used it.
	 */
	void giveBack(List<Hold> holds, HoldOptions options) {
		for (Hold hold : holds) {
			if (hold.options() == options && hold.isLost() && hold.ownership().lossReason() != Reason.TAKEN) {
				this.sweeper.cleanUp(hold.ownership());
			}
		}
		undo(holds);
	}

	/**
	 * Gives back holds that no handle was opened for.
	 */
	void undo(List<Hold> holds) {
		this.undo.accept(holds);
	}

	/**
	 * Tells the listeners.
	 */
	void publish(List<String> keys, String owner, HoldOptions options, Wait wait) {
		if (this.events.areHeard()) {
			this.events.publish(new LockEvent.Acquired(options.name(), keys, owner, wait.waited()));
		}
	}

}
