package io.github.distributedlock;

import org.jspecify.annotations.Nullable;

/**
 * An observer of the waits of requests, for traces. A wait lasts from the request for a
 * lock to the acquisition or the failure. A request that re-enters a lock does not wait.
 * <p>
 * An observer is called on the thread that requests the lock. The end of an asynchronous
 * request is reported on the thread where the callbacks of the request's future run, in
 * the context of the request. An observer that blocks delays only that request. An
 * implementation must be safe for use by many threads. An exception or {@link Error} of
 * an observer is logged and harms no request.
 *
 * @since 1.0
 */
@FunctionalInterface
public interface WaitObserver {

	/**
	 * Observes the beginning of a wait: a request is about to ask for the keys.
	 * @param request the request
	 * @return the callback for the end of the wait; {@code null} for none
	 */
	@Nullable Observed begins(LockRequest request);

	/**
	 * One wait. The wait ends once, possibly on another thread than the one on which the
	 * wait began.
	 */
	interface Observed {

		/**
		 * Observes the end of the wait: the request has the lock.
		 * @param holder the owner token of the last known holder of any of the keys
		 * during the wait; {@code null} if there was none
		 */
		void acquired(@Nullable String holder);

		/**
		 * Observes the end of the wait: a key was busy for the whole wait time of the
		 * request.
		 * @param holder the owner token of the holder, {@code null} if not known
		 */
		void busy(@Nullable String holder);

		/**
		 * Observes the end of the wait: the request has failed.
		 * @param failure the cause: a {@link java.util.concurrent.CancellationException}
		 * if the application cancelled or completed the future of the request
		 */
		void failed(Throwable failure);

	}

}
