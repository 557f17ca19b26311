package io.github.distributedlock.engine;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;

/**
 * Whether the engine is open, stopped or closed for ever.
 * <p>
 * Invariants: each stop begins a new era, so that a request that was waiting before it
 * notices even if the engine has been started again meanwhile. Odd eras are open, the
 * others stopped; nothing follows the last one. A thread, or a reactive chain, that is
 * inside a lock is served in all of them but the last: it must be able to end what it has
 * begun.
 */
final class Lifecycle {

	private static final int CLOSED = 0;

	/**
	 * The era of a request that was made inside a lock, to go on elsewhere.
	 */
	private static final int ALL_BUT_THE_LAST = -1;

	private final AtomicInteger era = new AtomicInteger(1);

	private final BooleanSupplier insideLock;

	/**
	 * Creates it, open.
	 * @param insideLock whether the calling thread, or the chain that it asks for, is
	 * inside a lock
	 */
	Lifecycle(BooleanSupplier insideLock) {
		this.insideLock = insideLock;
	}

	boolean isRunning() {
		return isOpen(this.era.get());
	}

	void start() {
		if (this.era.updateAndGet((now) -> (isOpen(now) || now == CLOSED) ? now : now + 1) == CLOSED) {
			throw new IllegalStateException("The lock engine is closed and cannot be started again: nothing would renew"
					+ " its locks. Build a new one");
		}
	}

	/**
	 * Stops.
	 * @return whether it was running
	 */
	boolean stop() {
		return isOpen(this.era.getAndUpdate((now) -> isOpen(now) ? now + 1 : now));
	}

	/**
	 * Closes.
	 * @return whether it was not closed before
	 */
	boolean close() {
		return this.era.getAndSet(CLOSED) != CLOSED;
	}

	/**
	 * Fails unless a request is served that the calling thread makes now.
	 * @param elsewhere whether it is resumed by other threads
	 * @return its era, for {@link #requireServed(int, String)}
	 */
	int requireServed(String key, boolean elsewhere) {
		int now = this.era.get();
		requireServed(now, key);
		return (elsewhere && this.insideLock.getAsBoolean()) ? ALL_BUT_THE_LAST : now;
	}

	/**
	 * Fails unless a request of the calling thread is served that was made in that era.
	 */
	void requireServed(int since, String key) {
		if (!serves(since)) {
			throw LockBackendException
				.of("Lock '" + LockException.printable(key) + "' cannot be acquired: the lock engine is stopped"
						+ " (the application is shutting down, or was stopped)")
				.stopped(true)
				.build();
		}
	}

	private boolean serves(int since) {
		int now = this.era.get();
		return (now == since && isOpen(now))
				|| (now != CLOSED && (since == ALL_BUT_THE_LAST || this.insideLock.getAsBoolean()));
	}

	private static boolean isOpen(int era) {
		return (era & 1) == 1;
	}

}
