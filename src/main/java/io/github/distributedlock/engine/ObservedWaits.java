package io.github.distributedlock.engine;

import io.github.distributedlock.LockRequest;
import io.github.distributedlock.WaitObserver;
import io.github.distributedlock.WaitObserver.Observed;
import io.github.distributedlock.engine.lease.Failures;
import org.jspecify.annotations.Nullable;

/**
 * Tells the observer of waits, which harms no request: what was acquired has no handle
 * yet. Safe for use by many threads; makes no object where nobody observes.
 */
record ObservedWaits(@Nullable WaitObserver observer) {

	/**
	 * A request is about to ask.
	 * @return its wait, {@code null} if nobody observes it
	 */
	@Nullable Observed begin(LockRequest request) {
		WaitObserver observer = this.observer;
		if (observer == null) {
			return null;
		}
		try {
			return observer.begins(request);
		}
		catch (Throwable ex) {
			Failures.caught(ex, ObservedWaits::what);
			return null;
		}
	}

	/**
	 * A wait has ended with an answer.
	 */
	static void end(@Nullable Observed observed, boolean acquired, Wait wait) {
		if (observed != null) {
			Failures.run(() -> {
				if (acquired) {
					observed.acquired(wait.waitedFor());
				}
				else {
					observed.busy(wait.holder());
				}
			}, ObservedWaits::what);
		}
	}

	/**
	 * A wait has failed.
	 */
	static void fail(@Nullable Observed observed, Throwable failure) {
		if (observed != null) {
			Failures.run(() -> observed.failed(failure), ObservedWaits::what);
		}
	}

	private static String what() {
		return "The observer of waits for locks";
	}

}
