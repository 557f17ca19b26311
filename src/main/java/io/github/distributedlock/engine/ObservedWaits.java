package io.github.distributedlock.engine;

import java.util.function.Consumer;

import io.github.distributedlock.LockRequest;
import io.github.distributedlock.WaitObserver;
import io.github.distributedlock.WaitObserver.Observed;
import io.github.distributedlock.engine.runtime.UserCode;
import org.jspecify.annotations.Nullable;

/**
 * Tells the observer of waits, which harms no request: what was acquired has no handle
 * yet. Safe for use by many threads; makes no object where nobody observes.
 */
final class ObservedWaits {

	private final @Nullable WaitObserver observer;

	ObservedWaits(@Nullable WaitObserver observer) {
		this.observer = observer;
	}

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
			UserCode.log(ObservedWaits::what, ex);
			return null;
		}
	}

	/**
	 * A wait has ended.
	 */
	static void end(Observed observed, Consumer<Observed> end) {
		UserCode.run(() -> end.accept(observed), ObservedWaits::what);
	}

	private static String what() {
		return "The observer of waits for locks";
	}

}
