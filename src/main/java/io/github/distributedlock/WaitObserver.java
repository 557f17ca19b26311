package io.github.distributedlock;

import org.jspecify.annotations.Nullable;

/**
 * Observes the waits of requests, each from asking for a lock to having it, or not; for
 * traces. Re-entering a lock is no wait.
 * <p>
 * Called on the thread that asks; at the end of a request that no thread waits for, where
 * the callbacks of its future run, in the context of the request. It delays that request
 * only, for as long as it blocks. An implementation is safe for use by many threads. What
 * it throws, be it an {@link Error}, is logged and harms no request.
 *
 * @since 1.0
 */
@FunctionalInterface
public interface WaitObserver {

	/**
	 * Called when a request is about to ask for its keys.
	 * @param request the request
	 * @return the callback for the end of the wait; {@code null} for none
	 */
	@Nullable Observed begins(LockRequest request);

	/**
	 * One wait. It ends once, maybe on another thread than it began.
	 */
	interface Observed {

		/**
		 * The request has the lock.
		 * @param holder the owner token of the last one that was known to hold any of its
		 * keys meanwhile; {@code null} if there was none
		 */
		void acquired(@Nullable String holder);

		/**
		 * A key was busy for as long as the request may wait.
		 * @param holder the owner token of the holder, {@code null} if it is not known
		 */
		void busy(@Nullable String holder);

		/**
		 * The request has failed.
		 * @param failure why: a {@link java.util.concurrent.CancellationException} if its
		 * future was cancelled, or completed by others
		 */
		void failed(Throwable failure);

	}

}
