package io.github.distributedlock;

import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

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

	private final LockedCall<? extends CompletionStage<T>, ?> code;

	/**
	 * What is called instead, in no lock, if the lock is busy.
	 */
	private final LockedCall<? extends CompletionStage<T>, ?> busy;

	/**
	 * Where the code runs, and what depends on the result.
	 */
	private final Executor executor;

	private final CompletableFuture<T> result;

	/**
	 * Whether the code was called, or will not be any more.
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
	 * Runs code when a lock is there.
	 * @return what completes after the release, and withdraws if it is completed before
	 * the lock is there
	 */
	static <T extends @Nullable Object> CompletableFuture<T> run(CompletableFuture<LockHandle> acquired,
			LockedCall<? extends CompletionStage<T>, ?> code) {
		return run(acquired, Function.identity(), code, code);
	}

	/**
	 * Runs code when a lock is there, or other code when it is known to be busy.
	 * @return what completes after the release, and withdraws if it is completed before
	 * the lock is there
	 */
	static <T extends @Nullable Object> CompletableFuture<T> tryRun(CompletableFuture<Optional<LockHandle>> acquired,
			LockedCall<? extends CompletionStage<T>, ?> code, LockedCall<? extends CompletionStage<T>, ?> busy) {
		return run(acquired, (handle) -> handle.orElse(null), code, busy);
	}

	private static <A, T extends @Nullable Object> CompletableFuture<T> run(CompletableFuture<A> acquired,
			Function<A, @Nullable LockHandle> handle, LockedCall<? extends CompletionStage<T>, ?> code,
			LockedCall<? extends CompletionStage<T>, ?> busy) {
		LockedStage<T> locked = new LockedStage<>(acquired, code, busy);
		Thread caller = Thread.currentThread();
		acquired.whenComplete((answer, failure) -> {
			if (failure != null) {
				locked.result.completeExceptionally(failure);
			}
			else {
				// If it is there already: the caller may be an event loop.
				locked.answered(handle.apply(answer), Thread.currentThread() == caller);
			}
		});
		locked.result.whenComplete((value, failure) -> acquired.cancel(false));
		return locked.result;
	}

	private void answered(@Nullable LockHandle handle, boolean byTheCaller) {
		if (byTheCaller) {
			callAsync(handle);
		}
		else {
			call(handle);
		}
	}

	/**
	 * Calls the code on another thread, or not at all.
	 */
	private void callAsync(@Nullable LockHandle handle) {
		try {
			this.executor.execute(() -> call(handle));
		}
		catch (Throwable noThread) {
			// Perhaps it has the code all the same, and will run it.
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
		try (CurrentLock binding = CurrentLock.bind(handle)) {
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
