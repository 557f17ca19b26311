package io.github.distributedlock.engine;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.distributedlock.LockException;
import io.github.distributedlock.engine.lease.EngineTime.Workers;
import io.github.distributedlock.engine.lease.Failures;
import org.jspecify.annotations.Nullable;

/**
 * What is to be done when the lock of one handle is lost. Safe for use by many threads.
 * <p>
 * Invariants: an action runs at most once, whatever its executor does, and is taken from
 * the queue before it is given to that. None waits for another.
 */
final class LossActions {

	/**
	 * One of them.
	 *
	 * @param executor its own, {@code null} for a thread for such actions
	 */
	private record LossAction(Runnable code, @Nullable Executor executor) {
	}

	private final List<String> keys;

	private final Workers workers;

	private final Queue<LossAction> queue = new ConcurrentLinkedQueue<>();

	LossActions(List<String> keys, Workers workers) {
		this.keys = keys;
		this.workers = workers;
	}

	/**
	 * Adds an action.
	 * @param executor what is to run it, {@code null} for a thread for such actions
	 * @return what runs it on the calling thread, or by its executor if it has one,
	 * unless it has been started before
	 */
	Runnable add(Runnable action, @Nullable Executor executor) {
		AtomicBoolean begun = new AtomicBoolean();
		Runnable code = () -> {
			if (!begun.getAndSet(true)) {
				Failures.run(action, this::name);
			}
		};
		LossAction added = new LossAction(code, executor);
		this.queue.add(added);
		return () -> {
			if (this.queue.remove(added)) {
				((executor != null) ? executor : (Executor) Runnable::run).execute(code);
			}
		};
	}

	/**
	 * Lets each action run by its executor, without waiting for it. One for which there
	 * is no thread keeps no other from being started.
	 */
	void lost() {
		for (LossAction action = this.queue.poll(); action != null; action = this.queue.poll()) {
			Runnable code = action.code();
			Executor executor = action.executor();
			Failures.run(() -> start(code, executor), this::name);
		}
	}

	private void start(Runnable code, @Nullable Executor executor) {
		if (executor == null) {
			this.workers.action(code);
		}
		else {
			// It may block, or run the code at once.
			this.workers.listener(() -> Failures.run(() -> executor.execute(code), this::name));
		}
	}

	private String name() {
		return "An onLost action of lock " + LockException.printable(this.keys);
	}

}
