package io.github.distributedlock.reactive;

import java.util.concurrent.CompletionException;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;

import io.github.distributedlock.LockHandle;
import org.jspecify.annotations.Nullable;
import reactor.util.context.Context;

/**
 * Asks for a lock as part of a chain, and tells of the answer where the chain may go on.
 * <p>
 * Invariants: an answer that is there at once is told by the thread that asks, but only
 * when it has asked: what the method requests by hand does not re-enter. Others go on in
 * the {@link ParallelScheduler}. A request that is withdrawn is cancelled, also if it
 * comes to be only afterwards; a handle that was there before is told of.
 */
final class PendingRequest {

	private final BiConsumer<@Nullable LockHandle, @Nullable Throwable> answer;

	/**
	 * The thread that asks, while it does.
	 */
	private volatile @Nullable Thread asking;

	/**
	 * What it was told meanwhile. Only that thread knows it.
	 */
	private @Nullable Runnable toldAtOnce;

	private volatile @Nullable Future<?> request;

	private volatile boolean withdrawn;

	/**
	 * Creates it, not asked.
	 * @param answer is told of the handle, of the failure, or of neither if the call is
	 * to be skipped; more than once if asking fails after it was told
	 */
	PendingRequest(BiConsumer<@Nullable LockHandle, @Nullable Throwable> answer) {
		this.answer = answer;
	}

	/**
	 * Asks, without blocking.
	 */
	void ask(Context context, LockedInvocation invocation) {
		this.asking = Thread.currentThread();
		try {
			this.request = LockContext.ask(context, () -> invocation.acquire(this::told));
			this.asking = null;
			if (this.withdrawn) {
				cancel();
			}
		}
		catch (Throwable ex) {
			this.asking = null;
			this.answer.accept(null, ex);
		}
		finally {
			if (this.toldAtOnce != null) {
				this.toldAtOnce.run();
			}
		}
	}

	private void told(@Nullable LockHandle handle, @Nullable Throwable failure) {
		Throwable why = (failure instanceof CompletionException) ? failure.getCause() : failure;
		Runnable telling = () -> this.answer.accept(handle, (why != null) ? why : failure);
		if (this.asking == Thread.currentThread()) {
			this.toldAtOnce = telling;
		}
		else {
			ParallelScheduler.run(telling);
		}
	}

	/**
	 * The lock is not wanted any more.
	 */
	void withdraw() {
		this.withdrawn = true;
		cancel();
	}

	private void cancel() {
		Future<?> asked = this.request;
		if (asked != null) {
			asked.cancel(true);
		}
	}

}
