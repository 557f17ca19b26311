package io.github.distributedlock.engine;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.distributedlock.CurrentLock;
import io.github.distributedlock.LockException;
import io.github.distributedlock.engine.runtime.UserCode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns, once, of handles that are closed while they are bound to another thread.
 */
final class ClosedElsewhere {

	private static final Logger logger = LoggerFactory.getLogger(ClosedElsewhere.class);

	private final AtomicBoolean warned = new AtomicBoolean();

	/**
	 * A handle on the keys is being closed by the calling thread.
	 */
	void check(CurrentLock binding, List<String> keys) {
		Thread bound = binding.thread();
		if (bound != null && bound != Thread.currentThread() && !this.warned.getAndSet(true)) {
			// The lock is yet to be given back, even if the log throws.
			UserCode.run(() -> warn(bound, keys), () -> "The warning of a lock that is closed elsewhere");
		}
	}

	private static void warn(Thread bound, List<String> keys) {
		logger.warn(
				"Lock {} was acquired by thread {} and is given back by thread {}. Until now it was bound to the"
						+ " former, whose next task would have re-entered it: two holders at once. Acquire such a"
						+ " lock with LockRequest.detached(true). This is logged once",
				LockException.printable(keys), bound.getName(), Thread.currentThread().getName());
	}

}
