package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

import io.github.distributedlock.CurrentLock;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.UndoableHandle;
import io.github.distributedlock.engine.RunningCalls.Call;
import io.github.distributedlock.engine.lease.AttachedHandle;
import io.github.distributedlock.engine.lease.Hold;
import io.github.distributedlock.engine.lease.Lease.Moment;
import io.github.distributedlock.engine.lease.LossHandler;
import io.github.distributedlock.engine.runtime.EngineTime;
import org.jspecify.annotations.Nullable;

/**
 * What a user holds: one or more holds, together with the outer handles of the thread
 * that re-entered them.
 * <p>
 * Invariants: closing counts once, and drops the handle from its holds before it gives
 * back those of which it was the last, and shares those of which it was the last
 * exclusive one. A loss action runs at most once, and only while the handle is open.
 */
final class EngineHandle implements UndoableHandle, AttachedHandle {

	private static final AtomicIntegerFieldUpdater<EngineHandle> CLOSED = AtomicIntegerFieldUpdater
		.newUpdater(EngineHandle.class, "closed");

	private static final AtomicReferenceFieldUpdater<EngineHandle, LossActions> LOSS_ACTIONS = AtomicReferenceFieldUpdater
		.newUpdater(EngineHandle.class, LossActions.class, "lossActions");

	private final List<Hold> holds;

	private final List<String> keys;

	private final LockMode mode;

	private final HandleContext context;

	/**
	 * 1 if it is closed, else 0.
	 */
	private volatile int closed;

	/**
	 * What is to be done if it is lost; {@code null} until there is anything.
	 */
	private volatile @Nullable LossActions lossActions;

	/**
	 * Ends with it.
	 */
	private final Call call;

	private final EngineTime.Alarm heldTooLong;

	EngineHandle(List<Hold> holds, List<String> keys, LockMode mode, boolean detached, Call call,
			HandleContext context) {
		this.holds = holds;
		this.keys = keys;
		this.mode = mode;
		this.context = context;
		this.heldTooLong = context.heldTooLong().watch(this.keys);
		for (int i = 0; i < holds.size(); i++) {
			holds.get(i).attach(this);
		}
		this.call = call;
		if (!detached) {
			call.bound(CurrentLock.bind(this));
		}
	}

	/**
	 * Whether it comes from the engine with that loss handler.
	 */
	boolean isOf(LossHandler lossHandler) {
		return this.context.lossHandler() == lossHandler;
	}

	/**
	 * The call that ends with it.
	 */
	Call call() {
		return this.call;
	}

	/**
	 * Its hold of one of its keys.
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
		return !isClosed() && this.holds.stream().allMatch(this.context.lossHandler()::isStillHeld);
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
		Moment now = Moment.now(this.context.time());
		long least = this.holds.stream().mapToLong((hold) -> hold.lease().left(now)).min().orElse(0);
		return Duration.ofNanos(Math.max(0, least));
	}

	@Override
	public void checkHeld() {
		requireOpen();
		for (Hold hold : this.holds) {
			if (!this.context.lossHandler().isStillHeld(hold)) {
				throw LossHandler.lost(hold, this.keys);
			}
		}
	}

	@Override
	public boolean extend(Duration lease) {
		requireOpen();
		return this.context.extender().extend(this.holds, lease);
	}

	@Override
	public LockHandle onLost(Runnable action) {
		return add(action, null);
	}

	@Override
	public LockHandle onLost(Runnable action, Executor executor) {
		return add(action, Objects.requireNonNull(executor, "executor"));
	}

	private LockHandle add(Runnable action, @Nullable Executor executor) {
		Objects.requireNonNull(action, "action");
		Runnable ifLostAlready = lossActions().add(() -> {
			if (!isClosed()) {
				action.run();
			}
		}, executor);
		if (this.holds.stream().anyMatch(Hold::isLost)) {
			ifLostAlready.run();
		}
		return this;
	}

	private LossActions lossActions() {
		if (this.lossActions == null) {
			LOSS_ACTIONS.compareAndSet(this, null,
					new LossActions(this.keys, this.context.userCode(), this.context.workers()));
		}
		return Objects.requireNonNull(this.lossActions);
	}

	@Override
	public void lost() {
		LossActions actions = this.lossActions;
		if (actions != null) {
			actions.lost();
		}
	}

	@Override
	public @Nullable Thread thread() {
		CurrentLock binding = this.call.binding();
		return (binding != null) ? binding.thread() : null;
	}

	@Override
	public boolean release() {
		if (!leave()) {
			return false;
		}
		try {
			return giveBack();
		}
		finally {
			this.context.calls().end(this.call);
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
		List<Hold> ended = ended();
		this.context.backgroundReleaser().downgrade(downgraded(ended));
		return this.context.backgroundReleaser().release(ended, () -> this.context.calls().end(this.call));
	}

	@Override
	public void undo() {
		if (leave()) {
			try {
				this.context.backgroundReleaser().undo(this.holds);
			}
			finally {
				this.context.calls().end(this.call);
			}
		}
	}

	/**
	 * Closes this handle.
	 * @return {@code false} if it was closed before
	 */
	private boolean leave() {
		if (!CLOSED.compareAndSet(this, 0, 1)) {
			return false;
		}
		CurrentLock binding = this.call.binding();
		if (binding != null) {
			this.context.closedElsewhere().check(binding, this.keys);
			binding.close();
		}
		this.heldTooLong.cancel();
		for (int i = 0; i < this.holds.size(); i++) {
			this.holds.get(i).detach(this);
		}
		return true;
	}

	/**
	 * Leaves the holds, gives back those of which it was the last handle, and shares
	 * those of which it was the last exclusive one.
	 * @return whether all were held until now
	 */
	private boolean giveBack() {
		List<Hold> ended = ended();
		boolean held = this.context.releaser().release(ended);
		if (ended.size() == this.holds.size()) {
			return held;
		}
		this.context.releaser().downgrade(downgraded(ended));
		return this.holds.stream().filter((hold) -> !hold.isLeft()).allMatch(this.context.lossHandler()::isStillHeld)
				&& held;
	}

	/**
	 * Leaves the holds.
	 * @return those of which it was the last handle
	 */
	private List<Hold> ended() {
		if (this.holds.size() > 1) {
			return this.holds.stream().filter((hold) -> hold.exit(this.mode)).toList();
		}
		return this.holds.get(0).exit(this.mode) ? this.holds : List.of();
	}

	/**
	 * The holds that go on without it, and that it has made shared.
	 */
	private List<Hold> downgraded(List<Hold> ended) {
		return (ended.size() == this.holds.size()) ? List.of()
				: this.holds.stream().filter(Hold::beginDowngrade).toList();
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

}
