package io.github.distributedlock;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.distributedlock.internal.Binding;
import io.github.distributedlock.internal.Requests;
import org.jspecify.annotations.Nullable;

/**
 * Code that returns a stage, and the lock that is held from before the code begins until
 * the stage has completed.
 * <p>
 * Invariants: the code is called at most once, with the lock. The lock is released as
 * soon as the lock is not needed: when the stage has completed, or when there will be no
 * stage. If the code is not called, the lock is {@linkplain LockHandle#undo() undone}, as
 * if never held. If the code is called, the result completes after the release, unless
 * the application completes the result before.
 *
 * @param <T> the type of the value
 */
final class LockedStage<T extends @Nullable Object> {

	private final LockedCall<? extends CompletionStage<T>, ?> code;

	/**
	 * The code that is called instead, without the lock, if the lock is busy.
	 */
	private final LockedCall<? extends CompletionStage<T>, ?> busy;

	/**
	 * The executor that runs the code and the dependents of the result.
	 */
	private final Executor executor;

	private final CompletableFuture<T> result;

	/**
	 * {@code true} once the code was called, or once certain that the code will not be
	 * called.
	 */
	private final AtomicBoolean decided = new AtomicBoolean();

	private LockedStage(CompletableFuture<?> acquired, LockedCall<? extends CompletionStage<T>, ?> code,
			LockedCall<? extends CompletionStage<T>, ?> busy) {
		this.code = Objects.requireNonNull(code, "code");
		this.busy = Objects.requireNonNull(busy, "busy");
		this.executor = acquired.defaultExecutor();
		this.result = acquired.newIncompleteFuture();
	}

	/**
	 * Runs code when a lock is acquired, or other code when the lock turns out to be
	 * busy.
	 * @param acquired the answer to the request, in one of the two forms of
	 * {@link Requests#handleIn}
	 * @return the future of the value, which completes after the release; a completion
	 * before the lock is acquired withdraws the request
	 */
	static <T extends @Nullable Object> CompletableFuture<T> run(CompletableFuture<?> acquired, LockRequest request,
			LockedCall<? extends CompletionStage<T>, ?> code, LockedCall<? extends CompletionStage<T>, ?> busy) {
		LockedStage<T> locked = new LockedStage<>(Requests.requireAnswer(acquired, request), code, busy);
		Thread caller = Thread.currentThread();
		acquired.whenComplete((answer, failure) -> {
			if (failure != null) {
				locked.result.completeExceptionally(failure);
			}
			else if (answer == null) {
				locked.result.completeExceptionally(Requests.noAnswer(request));
			}
			else if (Thread.currentThread() == caller) {
				// The future was complete already. The caller's thread may be an event
				// loop.
				locked.callAsync(Requests.handleIn(answer));
			}
			else {
				locked.call(Requests.handleIn(answer));
			}
		});
		locked.result.whenComplete((value, failure) -> Requests.withdraw(acquired));
		return locked.result;
	}

	/**
	 * Calls the code on another thread, or not at all if the executor refuses.
	 */
	private void callAsync(@Nullable LockHandle handle) {
		try {
			this.executor.execute(() -> call(handle));
		}
		catch (Throwable noThread) {
			// The executor may have accepted the task nevertheless, and may run the task
			// later.
			if (this.decided.compareAndSet(false, true)) {
				undo(handle);
				this.result.completeExceptionally(noThread);
			}
		}
	}

	private static void undo(@Nullable LockHandle handle) {
		if (handle != null) {
			handle.undo();
		}
	}

	private void call(@Nullable LockHandle handle) {
		if (!this.decided.compareAndSet(false, true)) {
			return;
		}
		if (this.result.isDone()) {
			undo(handle);
			return;
		}
		try {
			CompletionStage<T> stage = (handle != null) ? callBound(handle) : this.busy.call();
			if (stage == null) {
				throw new NullPointerException((handle != null)
						? "The code that ran with lock " + LockException.printable(handle.keys())
								+ " returned null instead of a stage"
						: "The code for a busy lock returned null instead of a stage");
			}
			stage.whenComplete((value, failure) -> ended(handle, value, failure));
		}
		catch (Throwable ex) {
			ended(handle, null, ex);
		}
	}

	private CompletionStage<T> callBound(LockHandle handle) throws Throwable {
		try (Binding binding = Binding.bind(handle)) {
			return this.code.call();
		}
	}

	private void ended(@Nullable LockHandle handle, @Nullable T value, @Nullable Throwable failure) {
		Runnable completion = (failure != null) ? () -> this.result.completeExceptionally(failure)
				: () -> this.result.complete(value);
		if (handle == null) {
			execute(completion);
			return;
		}
		try {
			handle.closeAsync().whenComplete((released, ignored) -> execute(completion));
		}
		catch (Throwable ex) {
			execute(completion); // The engine reports the failure of a release.
		}
	}

	private void execute(Runnable task) {
		try {
			this.executor.execute(task);
		}
		catch (Throwable ex) {
			task.run(); // Completing on this thread is better than never.
		}
	}

}
