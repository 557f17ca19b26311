package io.github.distributedlock.engine.lease;

import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockException;
import io.github.distributedlock.engine.runtime.Interrupts;
import io.github.distributedlock.engine.runtime.Store;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the store of holds that have become shared, so that others come in. Never fails
 * the caller: a key that the store was not told of stays exclusive there until it is
 * given back, as does one that is to block others after that. Safe for use by many
 * threads.
 * <p>
 * Invariants: a hold is shared here before the store is told. So it does not matter
 * whether the command is carried out, and when: it changes only a key that its owner has.
 * The hold keeps its place in the local queue, where it is known who has the key: a grant
 * to this owner that is heard of late is nothing new there, and takes nothing from it.
 */
final class Downgrader {

	private static final Logger logger = LoggerFactory.getLogger(Downgrader.class);

	private final Store store;

	private final LossHandler lossHandler;

	Downgrader(Store store, LossHandler lossHandler) {
		this.store = store;
		this.lossHandler = lossHandler;
	}

	/**
	 * Tells the store of a hold.
	 * @return whether it is still held, as far as is known
	 */
	boolean downgrade(Hold hold) {
		try {
			if (hold.rest() == 0 && this.lossHandler.isStillHeld(hold) && !isOwned(hold)) {
				this.lossHandler.declare(hold.ownership(), Reason.TAKEN);
			}
		}
		catch (RuntimeException ex) {
			logger.warn("Lock '{}' of {} stays exclusive until it is given back, though it is only shared now: {}",
					LockException.printable(hold.key()), hold.owner(), ex.toString());
		}
		return this.lossHandler.isStillHeld(hold);
	}

	private boolean isOwned(Hold hold) {
		return Interrupts.deferredDuring(() -> this.store.downgrade(hold.key(), hold.owner()));
	}

}
