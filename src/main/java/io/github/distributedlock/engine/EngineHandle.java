package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Consumer;

import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.engine.EngineTime.Workers;
import io.github.distributedlock.engine.Lease.Moment;
import io.github.distributedlock.internal.Binding;
import io.github.distributedlock.internal.LossOutcome;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The handle that a user holds: one or more holds, together with the outer handles of the
 * thread that re-entered them.
 * <p>
 * Invariants: closing has an effect once. A close first drops the handle from its holds.
 * Then the close releases the holds whose last handle this was, and shares those whose
 * last exclusive handle this was. A loss action runs at most once, whatever its executor
 * does, and only while the handle is open; the action is taken from the queue before the
 * action is started.
 */
final class EngineHandle implements LockHandle, Hold.Attached, Lifecycle.Handle {

	private static final Logger logger = LoggerFactory.getLogger(EngineHandle.class);

	private static final Runnable NO_ALARM = () -> {
	};

	private static final AtomicIntegerFieldUpdater<EngineHandle> CLOSED = AtomicIntegerFieldUpdater
		.newUpdater(EngineHandle.class, "closed");

	private final List<Hold> holds;

	private final List<String> keys;

	private final HoldOptions options;

	/**
	 * When the handle was opened, if a minimum time counts from then on.
	 */
	private final long opened;

	private final Factory engine;

	/**
	 * 1 if the handle is closed, else 0.
	 */
	private volatile int closed;

	/**
	 * Starters of the actions that are to run if the handle is lost; {@code null} until
	 * there is one.
	 */
	private volatile @Nullable Queue<Runnable> lossActions;

	/**
	 * The call that ends with the handle.
	 */
	private final Object call;

	/**
	 * Cancels the warning that the handle is held too long.
	 */
	private final Runnable heldTooLong;

	/**
	 * The binding of the handle to a thread; {@code null} if the handle is detached.
	 */
	private volatile @Nullable Binding binding;

	private EngineHandle(List<Hold> holds, List<String> keys, HoldOptions options, Object call, Factory engine) {
		this.holds = holds;
		this.keys = keys;
		this.options = options;
		this.opened = (options.minHold() > 0) ? engine.time.nanoTime() : 0;
		this.engine = engine;
		this.heldTooLong = engine.watch(keys);
		for (int i = 0; i < holds.size(); i++) {
			holds.get(i).attach(this);
		}
		this.call = call;
	}

	/**
	 * Returns whether the handle comes from the engine with those leases.
	 */
	boolean isOf(Leases leases) {
		return this.engine.leases == leases;
	}

	@Override
	public Object call() {
		return this.call;
	}

	/**
	 * Returns the hold of one of the keys.
	 */
	Hold hold(String key) {
		// Each JVM locks keys in their order.
		return this.holds.get((this.holds.size() == 1) ? 0 : Collections.binarySearch(this.keys, key));
	}

	@Override
	public List<String> keys() {
		return this.keys;
	}

	@Override
	public String owner() {
		return this.holds.get(0).owner();
	}

	@Override
	public OptionalLong fencingToken() {
		return (this.holds.size() == 1) ? this.holds.get(0).fencingToken() : OptionalLong.empty();
	}

	@Override
	public boolean isHeld() {
		return !isClosed() && this.holds.stream().allMatch(this.engine.leases::isStillHeld);
	}

	@Override
	public boolean isClosed() {
		return this.closed == 1;
	}

	@Override
	public Duration remaining() {
		if (!isHeld()) {
			return Duration.ZERO;
		}
		Moment now = Moment.now(this.engine.time);
		long least = this.holds.stream().mapToLong((hold) -> hold.lease().left(now)).min().orElse(0);
		return Duration.ofNanos(Math.max(0, least));
	}

	@Override
	public void checkHeld() {
		requireOpen();
		for (Hold hold : this.holds) {
			if (!this.engine.leases.isStillHeld(hold)) {
				throw Leases.lost(hold, this.keys);
			}
		}
	}

	@Override
	public boolean extend(Duration lease) {
		requireOpen();
		return this.engine.leases.extend(this.holds, lease);
	}

	@Override
	public LockHandle onLost(Runnable action) {
		return add(action, null);
	}

	@Override
	public LockHandle onLost(Runnable action, Executor executor) {
		return add(action, Objects.requireNonNull(executor, "executor"));
	}

	/**
	 * Adds an action.
	 * @param executor the executor of the action, {@code null} for a thread for such
	 * actions, or for this thread if the handle is lost already
	 */
	private LockHandle add(Runnable action, @Nullable Executor executor) {
		Objects.requireNonNull(action, "action");
		AtomicBoolean begun = new AtomicBoolean();
		Runnable code = () -> {
			if (!isClosed() && !begun.getAndSet(true)) {
				Failures.runWatched(action, this::lossAction, this.engine.time, this.engine.workers);
			}
		};
		Runnable start = start(code, executor);
		Queue<Runnable> actions = lossActions();
		actions.add(start);
		if (this.holds.stream().anyMatch(Hold::isLost) && actions.remove(start)) {
			((executor != null) ? executor : (Executor) Runnable::run).execute(code);
		}
		return this;
	}

	/**
	 * Returns a task that starts an action, without waiting for the action or for its
	 * executor, which may block or run the action at once.
	 */
	private Runnable start(Runnable code, @Nullable Executor executor) {
		Workers workers = this.engine.workers;
		if (executor == null) {
			return () -> workers.action(code);
		}
		return (executor == LossOutcome.INTERRUPT) ? () -> workers.interrupt(code)
				: () -> workers.listener(() -> Failures.run(() -> executor.execute(code), this::lossAction));
	}

	private synchronized Queue<Runnable> lossActions() {
		if (this.lossActions == null) {
			this.lossActions = new ConcurrentLinkedQueue<>();
		}
		return this.lossActions;
	}

	/**
	 * Starts each action, without waiting for the action. An action for which there is no
	 * thread keeps no other from being started.
	 */
	@Override
	public void lost() {
		Queue<Runnable> actions = this.lossActions;
		if (actions != null) {
			for (Runnable start = actions.poll(); start != null; start = actions.poll()) {
				Failures.run(start, this::lossAction);
			}
		}
		this.engine.lifecycle.lost(this);
	}

	@Override
	public void unbind() {
		Binding binding = this.binding;
		if (binding != null) {
			binding.close();
		}
	}

	private String lossAction() {
		return "An onLost action of lock " + LockException.printable(this.keys);
	}

	@Override
	public @Nullable Thread thread() {
		Binding binding = this.binding;
		return (binding != null) ? binding.thread() : null;
	}

	@Override
	public boolean release() {
		if (!leave()) {
			return false;
		}
		try {
			List<Hold> ended = exitHolds();
			boolean held = this.engine.releaser.release(ended);
			if (ended.size() == this.holds.size()) {
				return held;
			}
			this.engine.releaser.downgrade(beginDowngrades());
			return this.holds.stream().filter((hold) -> !hold.isLeft()).allMatch(this.engine.leases::isStillHeld)
					&& held;
		}
		finally {
			this.engine.lifecycle.end(this.call);
		}
	}

	@Override
	public void close() {
		release();
	}

	@Override
	public CompletableFuture<Void> closeAsync() {
		if (!leave()) {
			return CompletableFuture.completedFuture(null);
		}
		List<Hold> ended = exitHolds();
		this.engine.releaser.downgradeAsync((ended.size() < this.holds.size()) ? beginDowngrades() : List.of());
		return this.engine.releaser.releaseAsync(ended, () -> this.engine.lifecycle.end(this.call));
	}

	@Override
	public void undo() {
		undo(this.engine.releaser::undoAsync);
	}

	/**
	 * Closes the handle as if the handle had never been held.
	 * @param way how to release holds that no handle was opened for
	 */
	void undo(Consumer<List<Hold>> way) {
		if (leave()) {
			try {
				way.accept(this.holds);
			}
			finally {
				this.engine.lifecycle.end(this.call);
			}
		}
	}

	/**
	 * Takes note that listeners hear of the lock.
	 */
	void announce() {
		this.holds.forEach(Hold::announce);
	}

	/**
	 * Closes this handle.
	 * @return {@code false} if the handle was closed before
	 */
	private boolean leave() {
		if (!CLOSED.compareAndSet(this, 0, 1)) {
			return false;
		}
		Binding binding = this.binding;
		if (binding != null) {
			this.engine.checkThread(binding.thread(), this.keys);
			binding.close();
		}
		this.heldTooLong.run();
		for (int i = 0; i < this.holds.size(); i++) {
			this.holds.get(i).detach(this);
		}
		return true;
	}

	/**
	 * Leaves the holds.
	 * @return the holds whose last handle this was
	 */
	private List<Hold> exitHolds() {
		if (this.holds.size() > 1) {
			return this.holds.stream().filter((hold) -> hold.exit(this.options, this.opened)).toList();
		}
		return this.holds.get(0).exit(this.options, this.opened) ? this.holds : List.of();
	}

	/**
	 * Returns the holds that this handle has made shared.
	 */
	private List<Hold> beginDowngrades() {
		return this.holds.stream().filter(Hold::beginDowngrade).toList();
	}

	private void requireOpen() {
		if (isClosed()) {
			throw new IllegalStateException("The handle of lock " + LockException.printable(this.keys) + " is closed");
		}
	}

	@Override
	public String toString() {
		return "LockHandle[keys=" + LockException.printable(this.keys) + ", owner=" + owner() + ", "
				+ (isClosed() ? "closed" : isHeld() ? "held" : "lost") + "]";
	}

	/**
	 * Opens the handles of one engine. Safe for use by many threads.
	 *
	 * @param warnHeldAfter when to warn of a handle that is held too long, {@code null}
	 * for never
	 * @param warnedOfThread whether a warning of a handle that another thread closes was
	 * logged
	 */
	record Factory(Lifecycle lifecycle, Leases leases, Releaser releaser, Workers workers, EngineTime time,
			@Nullable Duration warnHeldAfter, AtomicBoolean warnedOfThread) {

		/**
		 * Opens a handle.
		 * @param detached whether the handle is not bound to the calling thread
		 * @param call the call that ends with the handle
		 */
		EngineHandle open(List<Hold> holds, List<String> keys, HoldOptions options, boolean detached, Object call) {
			EngineHandle handle = new EngineHandle(holds, keys, options, call, this);
			if (!detached) {
				handle.binding = Binding.bind(handle);
				for (int i = 0; i < holds.size(); i++) {
					if (holds.get(i).isLost()) { // Perhaps before there was a binding.
						this.lifecycle.lost(handle);
					}
				}
			}
			return handle;
		}

		/**
		 * Warns of a handle that is open too long, with the stack that acquired the
		 * handle.
		 * @return a task that cancels the warning
		 */
		private Runnable watch(List<String> keys) {
			Duration limit = this.warnHeldAfter;
			if (limit == null) {
				return NO_ALARM;
			}
			Throwable acquiredAt = new Throwable("acquired by thread " + Thread.currentThread().getName());
			return this.time.schedule(() -> this.workers.listener(() -> logger.warn(
					"Lock {} has been held for {}, longer than warn-held-after; the stack shows where it was acquired",
					LockException.printable(keys), Failures.text(limit), acquiredAt)), limit.toNanos());
		}

		/**
		 * Warns, once, of a handle that is closed while the handle is bound to another
		 * thread.
		 */
		private void checkThread(@Nullable Thread bound, List<String> keys) {
			if (bound != null && bound != Thread.currentThread() && !this.warnedOfThread.getAndSet(true)) {
				// The lock has yet to be released, even if the log throws.
				Failures.run(() -> logger.warn(
						"Lock {} was acquired by thread {} and is released by thread {}. Until now the lock was bound"
								+ " to the first thread, whose next task would have re-entered it: two holders at once."
								+ " Acquire such a lock with LockRequest.detached(true). This is logged once",
						LockException.printable(keys), bound.getName(), Thread.currentThread().getName()),
						() -> "The warning of a lock that is closed elsewhere");
			}
		}

	}

}
