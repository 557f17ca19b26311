package io.github.distributedlock.engine;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Predicate;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.engine.EngineTime.Workers;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Releases holds, hands them over, or lets others in beside them. The work runs on the
 * calling thread or on the engine's threads. A node has a few of these, so that a node
 * that stalls delays no releases of other nodes. The caller never sees a failure: a
 * release that the store has not answered is left to the {@link Sweeper}, and a key that
 * could not be downgraded stays exclusive until the key is released. Safe for use by many
 * threads.
 * <p>
 * Invariants: a hold is released by the thread that changes the state of its
 * {@link Ownership}. The hold leaves the local queue after the store has answered or
 * failed, and only then do listeners hear of the release. A hold is shared here before
 * the store is asked to downgrade its key. So a downgrade may be carried out late or
 * never, since a downgrade changes only a key that its owner has. Each future completes,
 * and on none of the engine's threads as long as there are others. A future completes
 * when all its holds have ended or were left to the sweeper, or with the engine, after
 * which their leases run out.
 */
final class Releaser {

	private static final Logger logger = LoggerFactory.getLogger(Releaser.class);

	private final LockBackend store;

	private final Leases leases;

	private final NodeTasks tasks;

	private final Workers workers;

	private final boolean handsOver;

	private final Set<CompletableFuture<Void>> unfinished = ConcurrentHashMap.newKeySet();

	private volatile boolean ended;

	/**
	 * Creates a releaser.
	 * @param tasks runs what is done in the background
	 * @param handsOver whether keys may be handed over inside this JVM
	 */
	Releaser(LockBackend store, Leases leases, NodeTasks tasks, Workers workers, boolean handsOver) {
		this.store = store;
		this.leases = leases;
		this.tasks = tasks;
		this.workers = workers;
		this.handsOver = handsOver;
	}

	/**
	 * Releases holds whose last handle was closed. Many are released in one step where
	 * that is possible. Otherwise the last hold is released first, and each whatever
	 * happens to the one before.
	 * @return whether all were held until now, as far as the store has answered
	 */
	boolean release(List<Hold> holds) {
		return new Closing(true).end(holds);
	}

	/**
	 * Lets others in beside holds that have become shared.
	 */
	void downgrade(List<Hold> holds) {
		eachBackwards(holds, this::downgrade);
	}

	/**
	 * Leaves holds that no handle was opened for, and releases those that nobody else has
	 * entered.
	 */
	void undo(List<Hold> holds) {
		new Closing(true).end(holds.stream().filter(Hold::exitUnopened).toList());
	}

	/**
	 * Releases holds in the background.
	 * @param then is run by the engine when all holds are released
	 * @return a future that completes then, never exceptionally
	 */
	CompletableFuture<Void> releaseAsync(List<Hold> holds, Runnable then) {
		if (holds.isEmpty()) {
			then.run();
			return CompletableFuture.completedFuture(null);
		}
		CompletableFuture<Void> released = new CompletableFuture<>();
		this.unfinished.add(released);
		AtomicInteger left = new AtomicInteger(holds.size());
		eachNode(holds, (some) -> {
			try {
				new Closing(false).end(some);
			}
			finally {
				if (left.addAndGet(-some.size()) == 0) {
					then.run();
					finish(released);
				}
			}
		});
		if (this.ended) {
			finish(released);
		}
		return released;
	}

	/**
	 * Lets others in beside holds that have become shared, in the background.
	 */
	void downgradeAsync(List<Hold> holds) {
		eachNode(holds, this::downgrade);
	}

	/**
	 * Undoes holds in the background.
	 */
	void undoAsync(List<Hold> holds) {
		eachNode(holds.stream().filter(Hold::exitUnopened).toList(), (some) -> new Closing(false).end(some));
	}

	private void eachNode(List<Hold> holds, Consumer<List<Hold>> step) {
		NodeTasks.byNode(this.store, holds, Hold::key).forEach((node, some) -> {
			try {
				this.tasks.resume(node, () -> step.accept(some));
			}
			catch (RuntimeException | Error noThread) {
				// Better on this thread than never, and whatever happens to other nodes.
				Failures.run(() -> step.accept(some), () -> "The end of " + some.size() + " locks");
			}
		});
	}

	private void finish(CompletableFuture<Void> released) {
		if (this.unfinished.remove(released)) {
			try {
				this.workers.callback(() -> released.complete(null));
			}
			catch (OutOfMemoryError noThread) {
				released.complete(null); // Completes the future on this thread, as no
											// other can be had.
			}
		}
	}

	/**
	 * Completes the futures that are left over when the threads have ended.
	 */
	void end() {
		this.ended = true;
		this.unfinished.forEach(this::finish);
	}

	// Not recursive: there may be thousands. None is left out because of another.
	private static <T> boolean eachBackwards(List<T> all, Predicate<T> step) {
		boolean held = true;
		Throwable failure = null;
		for (int i = all.size() - 1; i >= 0; i--) {
			try {
				held &= step.test(all.get(i));
			}
			catch (RuntimeException | Error ex) {
				failure = (failure instanceof Error) ? failure : ex;
			}
		}
		if (failure instanceof Error error) {
			throw error;
		}
		if (failure != null) {
			throw (RuntimeException) failure;
		}
		return held;
	}

	private boolean downgrade(Hold hold) {
		try {
			// A hold that is to block others after its end stays exclusive.
			if (hold.parkTime() == 0 && this.leases.isStillHeld(hold)
					&& !Failures.call("downgrade", hold.key(), () -> this.store.downgrade(hold.key(), hold.owner()))) {
				this.leases.denied(hold.ownership());
			}
		}
		catch (RuntimeException ex) {
			logger.warn("Lock '{}' of {} stays exclusive until its release, though its holder only reads now: {}",
					LockException.printable(hold.key()), hold.owner(), ex.toString());
		}
		return true;
	}

	/**
	 * The end of some holds, confined to one thread: a node that has not answered is not
	 * asked again.
	 */
	private final class Closing {

		private final boolean here;

		/**
		 * The last failure of each node.
		 */
		private Map<Object, LockBackendException> failures = Map.of();

		/**
		 * Creates the end of some holds.
		 * @param here whether listeners are called on this thread
		 */
		private Closing(boolean here) {
			this.here = here;
		}

		private boolean end(List<Hold> holds) {
			try {
				if (holds.size() == 1) {
					return end(holds.get(0), true);
				}
				return eachBackwards(Leases.batches(holds, Releaser.this.store.largestRelease()),
						(batch) -> isOneStep(batch) ? endAtOnce(batch)
								: eachBackwards(batch, (hold) -> end(hold, true)));
			}
			catch (Throwable ex) {
				// Holds that have ended already are not affected. What was lacking for a
				// hand-over may be lacking still.
				eachBackwards(holds, (hold) -> end(hold, false));
				throw ex;
			}
		}

		private boolean isOneStep(List<Hold> holds) {
			if (holds.size() == 1) {
				return false;
			}
			String owner = holds.get(0).owner();
			Object node = node(holds.get(0));
			return holds.stream()
				.allMatch((hold) -> hold.owner().equals(owner) && hold.parkTime() == 0 && node(hold).equals(node));
		}

		private Object node(Hold hold) {
			return NodeTasks.node(Releaser.this.store, hold.key());
		}

		/**
		 * Ends one hold.
		 * @param mayHandOver {@code false} after an error, when the lease is to end
		 * whatever fails next
		 * @return whether the hold was held until now, as far as is known
		 */
		private boolean end(Hold hold, boolean mayHandOver) {
			if (!mayHandOver && hold.isHeld()) {
				Releaser.this.leases.watchdog().unguard(hold.ownership());
			}
			long parkTime = hold.parkTime();
			boolean held = Releaser.this.leases.isStillHeld(hold);
			if (held && mayHandOver && parkTime == 0 && Releaser.this.handsOver && hold.options().mayBeHandedOver()
					&& !hold.isShared() && hold.handOver()) {
				released(hold);
				return true;
			}
			if (!held || !hold.ownership().beginRelease(hold)) {
				cleanUp(hold);
				return false;
			}
			Boolean owned = null;
			try {
				Releaser.this.leases.watchdog().unguard(hold.ownership());
				owned = releaseInStore(hold, parkTime);
			}
			finally {
				leave(hold, owned != null, parkTime);
			}
			cleanUp(hold);
			return report(hold, owned);
		}

		/**
		 * Ends several holds of one owner that need not be parked. Locks of several keys
		 * are not handed over.
		 * @return whether all were held until now, as far as is known
		 */
		private boolean endAtOnce(List<Hold> holds) {
			List<Hold> begun = new ArrayList<>(holds.size());
			List<Boolean> owned = null;
			try {
				eachBackwards(holds, (hold) -> Releaser.this.leases.isStillHeld(hold)
						&& hold.ownership().beginRelease(hold) && begun.add(hold));
				begun.forEach((hold) -> Releaser.this.leases.watchdog().unguard(hold.ownership()));
				owned = begun.isEmpty() ? List.of() : releaseInStore(begun);
			}
			finally {
				boolean answered = owned != null;
				eachBackwards(begun, (hold) -> leave(hold, answered, 0));
			}
			eachBackwards(holds, this::cleanUp);
			boolean held = begun.size() == holds.size();
			for (int i = 0; i < begun.size(); i++) {
				held &= report(begun.get(i), (owned != null) ? owned.get(i) : null);
			}
			return held;
		}

		/**
		 * Releases a key in the store.
		 * @return whether its owner had the key, {@code null} if the release is left to
		 * the sweeper
		 */
		private @Nullable Boolean releaseInStore(Hold hold, long parkTime) {
			if (isSilent(hold)) {
				return null;
			}
			// Does what Failures.call does, without the object that each release would
			// make there.
			boolean interrupted = Thread.interrupted();
			try {
				return Sweeper.release(Releaser.this.store, hold.key(), hold.owner(), parkTime);
			}
			catch (RuntimeException ex) {
				failed(hold, ex);
				return null;
			}
			finally {
				if (interrupted) {
					Thread.currentThread().interrupt();
				}
			}
		}

		/**
		 * Releases keys of one node in the store.
		 * @return for each key whether its owner had it, {@code null} if the releases are
		 * left to the sweeper
		 */
		private @Nullable List<Boolean> releaseInStore(List<Hold> holds) {
			Hold first = holds.get(0);
			if (isSilent(first)) {
				return null;
			}
			try {
				return Failures.callEach("release", first.key(), holds.size(),
						() -> Releaser.this.store.releaseAll(holds.stream().map(Hold::key).toList(), first.owner()));
			}
			catch (RuntimeException ex) {
				failed(first, ex);
				return null;
			}
		}

		private boolean isSilent(Hold hold) {
			LockBackendException last = this.failures.isEmpty() ? null : this.failures.get(node(hold));
			return last != null && !last.isWithoutEffect();
		}

		private void failed(Hold hold, RuntimeException ex) {
			LockBackendException failure = Failures.asBackendException("release", hold.key(), ex);
			if (this.failures.isEmpty()) {
				long left = hold.ownership().leftOnServer();
				logger.warn("Could not release lock '{}' of {}, {}: {}", LockException.printable(hold.key()),
						hold.owner(), (left > 0) ? "trying again until the lease has run out in " + Failures.text(left)
								: "whose lease has run out meanwhile",
						failure.getMessage());
				this.failures = new HashMap<>();
			}
			this.failures.put(node(hold), failure);
		}

		private boolean leave(Hold hold, boolean answered, long parkTime) {
			try {
				if (!answered) {
					Releaser.this.leases.sweeper().release(hold.ownership(), parkTime);
				}
			}
			finally {
				hold.leaveQueue(); // Without this, no other request of this JVM gets the
									// key again.
			}
			return answered;
		}

		private boolean cleanUp(Hold hold) {
			boolean ends = !hold.ownership().isLeftToRunOut();
			if (ends) {
				boolean remains = hold.isLostHereOnly();
				Releaser.this.leases.ended(hold.ownership(), remains, remains ? hold.parkTime() : 0);
			}
			return ends;
		}

		private boolean report(Hold hold, @Nullable Boolean owned) {
			if (owned == null) {
				// The key may have moved to another node since.
				LockBackendException any = this.failures.values().iterator().next();
				publish(new LockEvent.ReleaseDeferred(hold.options().request(), hold.key(), hold.owner(),
						this.failures.getOrDefault(node(hold), any)));
			}
			else if (owned) {
				released(hold);
			}
			else {
				Releaser.this.leases.discoveredAtRelease(hold.ownership(), hold);
				return false;
			}
			return true;
		}

		private void released(Hold hold) {
			if (hold.isAnnounced()) {
				publish(new LockEvent.Released(hold.options().request(), hold.key(), hold.owner(), hold.held()));
			}
		}

		private void publish(LockEvent event) {
			if (this.here) {
				Releaser.this.leases.events().publish(event);
			}
			else {
				Releaser.this.leases.events().publishAsync(event);
			}
		}

	}

}
