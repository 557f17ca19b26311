package io.github.distributedlock.backend.redis.atomic;

import java.time.Duration;

import org.springframework.dao.TransientDataAccessResourceException;

/**
 * Keeps a step of several commands from taking several command timeouts, where each of
 * them is slow but not too slow: once half of a timeout is over, no other is begun.
 */
final class StepBudget {

	private final long timeoutNanos;

	private final long begin = System.nanoTime();

	StepBudget(Duration timeout) {
		this.timeoutNanos = timeout.toNanos();
	}

	/**
	 * To be called before a command.
	 */
	void check() {
		long elapsed = System.nanoTime() - this.begin;
		if (elapsed > this.timeoutNanos / 2) {
			// Not what a command without an answer is: nothing is wrong with the
			// connection.
			throw new TransientDataAccessResourceException(
					"the commands before took " + Duration.ofNanos(elapsed).toMillis()
							+ " ms, which leaves too little time for those that a step needs without Lua");
		}
	}

}
