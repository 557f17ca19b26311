package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.distributedlock.CurrentLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.engine.Lease.Moment;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a user holds: one or more holds, together with the outer handles of the thread
 * that re-entered them.
 * <p>
 * Invariants: closing counts once, and drops the handle from its holds before it gives
 * back those of which it was the last. A loss action runs at most once, and only while
 * the handle is open.
 */
final class EngineHandle implements LockHandle {

	private static final Logger logger = LoggerFactory.getLogger(LockEngine.class);

	private final List<Hold> holds;

	private final List<String> keys;

	private final Handles parts;

	private final AtomicBoolean closed = new AtomicBoolean();

	/**
	 * Guarded by this handle.
	 */
	private @Nullable Queue<Runnable> lossActions;

	private final CurrentLock binding;

	private final EngineTime.Alarm heldTooLong;

	EngineHandle(List<Hold> holds, Handles parts) {
		this.holds = holds;
		this.keys = keys(holds);
		this.parts = parts;
		this.heldTooLong = parts.heldTooLong().watch(this.keys);
		for (Hold hold : holds) {
			hold.attach(this);
		}
		this.binding = CurrentLock.bind(this);
	}

	private static List<String> keys(List<Hold> holds) {
		return (holds.size() == 1) ? List.of(holds.get(0).key) : holds.stream().map((hold) -> hold.key).toList();
	}

	/**
	 * Whether it comes from the engine with those losses.
	 */
	boolean isOf(Losses losses) {
		return this.parts.losses() == losses;
	}

	List<Hold> holds() {
		return this.holds;
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
		return (this.holds.size() == 1) ? this.holds.get(0).fencingToken : OptionalLong.empty();
	}

	@Override
	public boolean isHeld() {
		return !this.closed.get() && this.holds.stream().allMatch(this.parts.losses()::isStillHeld);
	}

	@Override
	public Duration remaining() {
		if (!isHeld()) {
			return Duration.ZERO;
		}
		Moment now = Moment.now(this.parts.time());
		long least = this.holds.stream().mapToLong((hold) -> hold.lease().left(now)).min().orElse(0);
		return Duration.ofNanos(Math.max(0, least));
	}

	@Override
	public void checkHeld() {
		requireOpen();
		for (Hold hold : this.holds) {
			if (!this.parts.losses().isStillHeld(hold)) {
				throw new LockLostException(
						"Lock '" + hold.key + "' of " + hold.owner() + " was lost: "
								+ Losses.why(hold.tenure.lossReason(), hold.terms),
						this.keys, hold.tenure.lossReason());
			}
		}
	}

	@Override
	public boolean extend(Duration lease) {
		requireOpen();
		return this.parts.extender().extend(this.holds, lease);
	}

	@Override
	public LockHandle onLost(Runnable action) {
		addLossAction(Objects.requireNonNull(action, "action"));
		if (this.holds.stream().anyMatch(Hold::isLost)) {
			runLossActions();
		}
		return this;
	}

	private synchronized void addLossAction(Runnable action) {
		if (this.lossActions == null) {
			this.lossActions = new ArrayDeque<>(1);
		}
		this.lossActions.add(action);
	}

	private synchronized @Nullable Runnable nextLossAction() {
		return (this.lossActions != null) ? this.lossActions.poll() : null;
	}

	void runLossActions() {
		Runnable action = nextLossAction();
		while (action != null && !this.closed.get()) {
			try {
				action.run();
			}
			catch (RuntimeException | LinkageError | AssertionError ex) {
				logger.warn("An onLost action of lock {} failed", this.keys, ex);
			}
			action = nextLossAction();
		}
	}

	@Override
	public void close() {
		if (!this.closed.compareAndSet(false, true)) {
			return;
		}
		this.binding.close();
		this.heldTooLong.cancel();
		for (Hold hold : this.holds) {
			hold.detach(this);
		}
		if (this.holds.size() > 1) {
			this.parts.releaser().release(this.holds.stream().filter(Hold::exit).toList());
		}
		else if (this.holds.get(0).exit()) {
			this.parts.releaser().release(this.holds);
		}
	}

	private void requireOpen() {
		if (this.closed.get()) {
			throw new IllegalStateException("The handle of lock " + this.keys + " is closed");
		}
	}

	@Override
	public String toString() {
		return "LockHandle[keys=" + this.keys + ", owner=" + owner() + ", "
				+ (this.closed.get() ? "closed" : isHeld() ? "held" : "lost") + "]";
	}

}
