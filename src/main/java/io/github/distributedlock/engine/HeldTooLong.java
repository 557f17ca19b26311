package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;

import io.github.distributedlock.LockException;
import io.github.distributedlock.engine.runtime.EngineTime;
import io.github.distributedlock.engine.runtime.Text;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns of handles that are held too long, with the stack that acquired them.
 */
final class HeldTooLong {

	private static final Logger logger = LoggerFactory.getLogger(HeldTooLong.class);

	private static final EngineTime.Alarm NONE = () -> {
	};

	private final @Nullable Duration limit;

	private final EngineTime time;

	HeldTooLong(@Nullable Duration limit, EngineTime time) {
		this.limit = limit;
		this.time = time;
	}

	/**
	 * Watches a handle on the keys until the alarm is cancelled.
	 */
	EngineTime.Alarm watch(List<String> keys) {
		Duration limit = this.limit;
		if (limit == null) {
			return NONE;
		}
		Throwable acquiredAt = new Throwable("acquired by thread " + Thread.currentThread().getName());
		return this.time.schedule(() -> logger.warn(
				"Lock {} has been held for {}, longer than warn-held-after; the stack shows where it was acquired",
				LockException.printable(keys), Text.of(limit), acquiredAt), limit.toNanos());
	}

}
