package io.github.distributedlock.aop;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockLostException;
import org.jspecify.annotations.Nullable;

/**
 * Asks a handle whether its lock was lost. One that the method closed itself was not.
 */
final class LossCheck {

	private LossCheck() {
	}

	static @Nullable LockLostException of(LockHandle handle) {
		try {
			handle.checkHeld();
			return null;
		}
		catch (LockLostException ex) {
			return ex;
		}
		catch (IllegalStateException closed) {
			return null;
		}
	}

	static void throwIfLost(LockHandle handle) {
		LockLostException loss = of(handle);
		if (loss != null) {
			throw loss;
		}
	}

	/**
	 * Adds the loss, if there is one, to what the method failed with, unless that says it
	 * already.
	 */
	static void addTo(Throwable failure, LockHandle handle) {
		LockLostException loss = of(handle);
		if (loss != null && !(failure instanceof LockLostException told && told.keys().equals(loss.keys()))) {
			failure.addSuppressed(loss);
		}
	}

}
