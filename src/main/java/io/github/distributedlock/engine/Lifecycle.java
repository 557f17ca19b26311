package io.github.distributedlock.engine;

import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;

/**
 * Whether the engine is open. Each stop begins a new era, so that who was waiting before
 * it notices even if the engine has been started again meanwhile. Odd eras are open.
 */
final class Lifecycle {

	private final AtomicInteger era = new AtomicInteger(1);

	boolean isRunning() {
		return isOpen(this.era.get());
	}

	void start() {
		this.era.updateAndGet((now) -> isOpen(now) ? now : now + 1);
	}

	/**
	 * Stops.
	 * @return whether it was running
	 */
	boolean stop() {
		return isOpen(this.era.getAndUpdate((now) -> isOpen(now) ? now + 1 : now));
	}

	/**
	 * The present era, for {@link #require}.
	 */
	int era() {
		return this.era.get();
	}

	boolean isRunningSince(int era) {
		return isOpen(era) && era == this.era.get();
	}

	/**
	 * Fails unless the engine has been open since the era.
	 */
	void require(int since, String key) {
		if (!isRunningSince(since)) {
			throw new LockBackendException(
					"Lock '" + LockException.printable(key) + "' cannot be acquired: the lock engine is stopped"
							+ " (the application is shutting down or paused)",
					false, null);
		}
	}

	private static boolean isOpen(int era) {
		return (era & 1) == 1;
	}

}
