package io.github.distributedlock.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockUpgradeException;
import io.github.distributedlock.internal.Binding;
import org.jspecify.annotations.Nullable;

/**
 * Re-enters keys that the calling thread, or a reactive chain, holds already, in memory.
 * <p>
 * Invariants: a lost hold is never re-entered, and a request that the outer hold cannot
 * honour is refused. Safe for use by many threads.
 *
 * @param undo undoes holds that no handle was opened for: leaves those that were
 * re-entered, and releases the others
 * @param handles supplies the handles that are held, innermost first
 * @param requester the name of the thread or chain that asks, for messages
 */
record Reentrancy(Leases leases, Consumer<List<Hold>> undo, Supplier<List<LockHandle>> handles, String requester) {

	/**
	 * Creates the reentrancy of whatever thread calls.
	 */
	static Reentrancy ofThreads(Leases leases, Releaser releaser) {
		return new Reentrancy(leases, releaser::undo, Binding::all, "this thread");
	}

	/**
	 * Creates the reentrancy of a reactive chain, which has no thread of its own and must
	 * not block.
	 * @param handles the handles that the chain holds, innermost first
	 */
	static Reentrancy ofChain(List<LockHandle> handles, Leases leases, Releaser releaser) {
		return new Reentrancy(leases, releaser::undoAsync, () -> handles, "this reactive chain");
	}

	/**
	 * Re-enters the keys if the requester has all of them. Asks nothing of the store and
	 * waits for nothing.
	 * @return a hold for each key, or {@code null} if one is not held
	 * @throws LockUpgradeException if the requester shares a key that is to be exclusive
	 * @throws IllegalArgumentException if a lock that the requester holds cannot honour
	 * the options
	 */
	@Nullable List<Hold> reenter(List<String> keys, HoldOptions options) {
		if (keys.size() == 1) {
			Hold outer = reenter(keys.get(0), options);
			return (outer != null) ? List.of(outer) : null;
		}
		long held = keys.stream().filter((key) -> find(key, options, false) != null).count();
		return (held == keys.size()) ? reenterEach(keys, options) : null;
	}

	private @Nullable List<Hold> reenterEach(List<String> keys, HoldOptions options) {
		List<Hold> holds = new ArrayList<>(keys.size());
		try {
			for (String key : keys) {
				Hold hold = reenter(key, options);
				if (hold == null) {
					return null;
				}
				holds.add(hold);
			}
		}
		finally {
			if (holds.size() < keys.size()) {
				this.undo.accept(holds);
			}
		}
		return holds;
	}

	/**
	 * Re-enters one key, if the requester has the key.
	 * @return the hold, or {@code null} if the key is not held
	 */
	@Nullable Hold reenter(String key, HoldOptions options) {
		return find(key, options, true);
	}

	/**
	 * Finds the requester's innermost hold of a key that may be re-entered.
	 * @param enters whether to re-enter the hold
	 */
	private @Nullable Hold find(String key, HoldOptions options, boolean enters) {
		List<LockHandle> all = this.handles.get();
		for (int i = 0; i < all.size(); i++) { // Indexed, since a loop over the list
												// would make an iterator.
			if (all.get(i) instanceof EngineHandle outer && outer.isOf(this.leases) && !outer.isClosed()
					&& outer.keys().contains(key)) {
				Hold hold = outer.hold(key);
				if (this.leases.isStillHeld(hold)) {
					requireHonoured(options, hold);
					if (!enters || enter(hold, options)) {
						return hold;
					}
				}
			}
		}
		return null;
	}

	private boolean enter(Hold hold, HoldOptions options) {
		boolean entered = hold.reenter(options.mode());
		if (!entered && !hold.isLeft()) {
			requireHonoured(options, hold); // The hold has become shared just now.
		}
		return entered;
	}

	private void requireHonoured(HoldOptions options, Hold outer) {
		if (options.fenced() && outer.fencingToken().isEmpty()) {
			throw new IllegalArgumentException(
					"Lock '" + LockException.printable(outer.key()) + "' was requested as fenced, but " + this.requester
							+ " holds it without a fencing token already. Request the outer lock as fenced, too");
		}
		String requested = (options.permits() > 1) ? "with permits " + options.permits() : "as " + options.mode();
		if (outer.isShared() && !options.isShared()) {
			throw new LockUpgradeException(
					"Lock '" + LockException.printable(outer.key()) + "' was requested " + requested + ", but "
							+ this.requester + " holds it as SHARED already, and would wait for itself",
					"request the outer lock as EXCLUSIVE, or release it first", List.of(outer.key()));
		}
		int permits = outer.options().permits();
		if (permits > (options.isShared() ? 1 : options.permits())) {
			throw new LockUpgradeException(
					"Lock '" + LockException.printable(outer.key()) + "' was requested " + requested + ", but "
							+ this.requester + " holds it with permits " + permits + " already, beside others",
					"request the outer lock in the same way, or release it first", List.of(outer.key()));
		}
		long left = outer.longest();
		if (options.minHold() > left) {
			throw new IllegalArgumentException("Lock '" + LockException.printable(outer.key())
					+ "' was requested with a minHoldTime of " + Failures.text(options.minHold()) + ", but "
					+ this.requester + " holds it already, with a "
					+ (outer.options().renewed() ? "maxHoldTime" : "leaseTime") + " that ends in " + Failures.text(left)
					+ ". Request the outer lock with a longer one, or release it first");
		}
	}

}
