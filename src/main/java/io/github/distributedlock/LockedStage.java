package io.github.distributedlock;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Code that returns a stage, and the lock that is held from before the code begins until
 * the stage has completed.
 * <p>
 * Invariants: the code is called at most once, with the lock. The lock is released once
 * it is not needed: when the stage has completed, or there will be none. If the code is
 * not called, that is as if the lock had never been held. Otherwise the result completes
 * after that, unless others complete it before.
 *
 * @param <T> the type of the value
 */
final class LockedStage<T extends @Nullable Object> {

	private final Supplier<? extends CompletionStage<T>> code;

	/**
	 * Where the code runs, and what depends on the result.
	 */
	private final Executor executor;

	private final CompletableFuture<T> result;

	/**
	 * Whether the code was called, or will not be any more.
	 */
	private final AtomicBoolean decided = new AtomicBoolean();

	private LockedStage(CompletableFuture<LockHandle> acquired, Supplier<? extends CompletionStage<T>> code) {
		this.code = code;
		this.executor = acquired.defaultExecutor();
		this.result = acquired.newIncompleteFuture();
	}

	/**
	 * Runs code when a lock is there.
	 * @return what completes after the release, and withdraws if it is completed before
	 * the lock is there
	 */
	static <T extends @Nullable Object> CompletableFuture<T> run(CompletableFuture<LockHandle> acquired,
			Supplier<? extends CompletionStage<T>> code) {
		LockedStage<T> locked = new LockedStage<>(acquired, code);
		Thread caller = Thread.currentThread();
		// If it is there already: the caller may be an event loop.
		acquired.whenComplete((handle, failure) -> locked.acquired(handle, failure, Thread.currentThread() == caller));
		locked.result.whenComplete((value, failure) -> acquired.cancel(false));
		return locked.result;
	}

	private void acquired(@Nullable LockHandle handle, @Nullable Throwable failure, boolean byTheCaller) {
		if (handle == null) {
			this.result.completeExceptionally(Objects.requireNonNull(failure, "failure"));
		}
		else if (byTheCaller) {
			callAsync(handle);
		}
		else {
			call(handle);
		}
	}

	/**
	 * Calls the code on another thread, or not at all.
	 */
	private void callAsync(LockHandle handle) {
		try {
			this.executor.execute(() -> call(handle));
		}
		catch (Throwable noThread) {
			// Perhaps it has the code all the same, and will run it.
			if (this.decided.compareAndSet(false, true)) {
				handle.undo();
				this.result.completeExceptionally(noThread);
			}
		}
	}

	private void call(LockHandle handle) {
		if (!this.decided.compareAndSet(false, true)) {
			return;
		}
		if (this.result.isDone()) {
			handle.undo();
			return;
		}
		try {
			CompletionStage<T> stage;
			try (CurrentLock binding = CurrentLock.bind(handle)) {
				stage = this.code.get();
			}
			if (stage == null) {
				throw new NullPointerException("The code that ran with lock " + LockException.printable(handle.keys())
						+ " returned null instead of a stage");
			}
			stage.whenComplete((value, failure) -> ended(handle, value, failure));
		}
		catch (Throwable ex) {
			ended(handle, null, ex);
		}
	}

	private void ended(LockHandle handle, @Nullable T value, @Nullable Throwable failure) {
		Runnable completion = (failure != null) ? () -> this.result.completeExceptionally(failure)
				: () -> this.result.complete(value);
		try {
			handle.closeAsync().whenComplete((released, ignored) -> execute(completion));
		}
		catch (Throwable ex) {
			execute(completion); // It is for the engine to tell of.
		}
	}

	private void execute(Runnable task) {
		try {
			this.executor.execute(task);
		}
		catch (Throwable ex) {
			task.run(); // Better here than never.
		}
	}

}
