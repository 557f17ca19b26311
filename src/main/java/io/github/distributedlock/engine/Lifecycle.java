package io.github.distributedlock.engine;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.engine.EngineTime.Workers;
import io.github.distributedlock.internal.Binding;

/**
 * Knows whether the engine is open, stopped or closed for ever. Counts the calls that a
 * stop waits for: the requests that are awaited, each until the request has failed or its
 * handle is closed.
 * <p>
 * Invariants: each stop begins a new era, so that a request that was waiting before the
 * stop notices the stop even if the engine has been started again meanwhile. Odd eras are
 * open, the others stopped; no era follows the last one. A thread, or a reactive chain,
 * that is inside a lock is served in all eras but the last: such a thread must be able to
 * end work in progress.
 * <p>
 * A call is counted before the check whether the engine is open, so that a stop either
 * finds the call here or refuses it. A call has the era in which it began. A call that
 * began inside of another call has the era of that call, if that era is earlier. A stop
 * completes as soon as no call of an era before the stop's own is left. So a stop waits
 * for the calls found here and for those that began inside of them, but neither for a
 * call that is refused after the stop nor for a call after the next start. Safe for use
 * by many threads.
 */
final class Lifecycle {

	private static final int CLOSED = Integer.MAX_VALUE - 1;

	/**
	 * The era of a request that was made inside a lock, to go on elsewhere.
	 */
	private static final int UNTIL_CLOSED = -1;

	/**
	 * A handle that ends with a call.
	 */
	interface Handle {

		/**
		 * Returns the call.
		 */
		Object call();

		/**
		 * Takes the handle away from the thread that the handle is bound to.
		 */
		void unbind();

	}

	/**
	 * The calls that a stop waits for, each with the era in which it began, or in which
	 * the outermost call began that it began inside of.
	 */
	private final Map<Object, Integer> calls = new ConcurrentHashMap<>();

	/**
	 * The futures of the stops that have not completed, each with the era that the stop
	 * has begun. A stop is in this map before its era can be seen.
	 */
	private final Map<CompletableFuture<Void>, Integer> stops = new ConcurrentHashMap<>();

	/**
	 * The lost handles. A thread that outlives the application keeps those of them that
	 * nobody closes.
	 */
	private final Set<Handle> lost = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

	/**
	 * The present era. Changed only under this monitor.
	 */
	private volatile int era = 1;

	private final BooleanSupplier insideLock;

	private final Workers workers;

	/**
	 * Creates an open lifecycle.
	 * @param insideLock tells whether the calling thread, or the chain that the thread
	 * asks for, is inside a lock
	 */
	Lifecycle(BooleanSupplier insideLock, Workers workers) {
		this.insideLock = insideLock;
		this.workers = workers;
	}

	boolean isRunning() {
		return isOpen(this.era);
	}

	/**
	 * Starts the engine.
	 * @param first is run before requests are served again, if the engine was stopped
	 * @throws IllegalStateException if the engine is closed
	 */
	synchronized void start(Runnable first) {
		if (this.era == CLOSED) {
			throw new IllegalStateException("The lock engine is closed and cannot be started again: nothing would renew"
					+ " its locks. Build a new one");
		}
		if (!isRunning()) {
			first.run();
			this.era++;
		}
	}

	/**
	 * Stops the engine.
	 * @param end completes after the last call, except for calls that cannot end before
	 * this thread goes on
	 * @return whether the engine was running
	 */
	boolean stop(CompletableFuture<Void> end) {
		ownHandles(Binding.all()).forEach((handle) -> this.calls.remove(handle.call()));
		boolean ran;
		synchronized (this) {
			ran = isRunning();
			int next = (this.era == CLOSED) ? CLOSED : this.era + (ran ? 1 : 2);
			this.stops.put(end, next);
			this.era = next;
		}
		completeStops();
		return ran;
	}

	/**
	 * Closes the engine.
	 * @return whether the engine was open or stopped before
	 */
	synchronized boolean close() {
		boolean closes = this.era != CLOSED;
		this.era = CLOSED;
		return closes;
	}

	/**
	 * Begins a call.
	 * @param awaited whether a stop waits for the call
	 */
	void begin(Object call, boolean awaited) {
		if (awaited) {
			int now = this.era;
			this.calls.put(call, now);
			if (!this.stops.isEmpty()) { // A stop may have begun just now.
				int outermost = outermost();
				if (outermost != now) {
					this.calls.put(call, outermost);
					completeStops();
				}
			}
		}
	}

	/**
	 * Returns the earliest era of the counted calls that the calling thread, or the chain
	 * that the thread asks for, is inside of; the present era if there are none.
	 */
	private int outermost() {
		return Stream.concat(ownHandles(Binding.all()), ownHandles(Binding.chain()))
			.map((handle) -> this.calls.get(handle.call()))
			.filter(Objects::nonNull)
			.reduce(this.era, Math::min);
	}

	private static Stream<Handle> ownHandles(List<LockHandle> handles) {
		return handles.stream().filter(Handle.class::isInstance).map(Handle.class::cast);
	}

	/**
	 * Ends a call.
	 */
	void end(Object call) {
		Integer began = this.calls.remove(call);
		if (began != null && began < this.era) {
			completeStops();
		}
	}

	/**
	 * Completes all stops without waiting for any call, and takes the lost handles away
	 * from their threads.
	 */
	void forget() {
		this.calls.clear();
		completeStops();
		List.copyOf(this.lost).forEach(Handle::unbind);
	}

	/**
	 * Takes note of a lost handle that perhaps nobody will close.
	 */
	void lost(Handle handle) {
		this.lost.add(handle);
		if (this.era == CLOSED) {
			handle.unbind();
		}
	}

	private void completeStops() {
		this.stops.forEach((end, stop) -> {
			if (this.calls.values().stream().noneMatch((began) -> began < stop) && this.stops.remove(end, stop)) {
				this.workers.action(() -> end.complete(null));
			}
		});
	}

	/**
	 * Fails unless the engine serves a request that the calling thread makes now.
	 * @param elsewhere whether the request is resumed by other threads
	 * @return the era of the request, for {@link #requireServed(int, String)}
	 */
	int requireServed(String key, boolean elsewhere) {
		int now = this.era;
		requireServed(now, key);
		return (elsewhere && this.insideLock.getAsBoolean()) ? UNTIL_CLOSED : now;
	}

	/**
	 * Fails unless the engine serves a request of the calling thread that was made in the
	 * given era.
	 */
	void requireServed(int since, String key) {
		int now = this.era;
		boolean served = (now == since && isOpen(now))
				|| (now != CLOSED && (since == UNTIL_CLOSED || this.insideLock.getAsBoolean()));
		if (!served) {
			throw LockBackendException
				.of("Lock '" + LockException.printable(key) + "' cannot be acquired: the lock engine is stopped"
						+ " (the application is shutting down, or was stopped)")
				.stopped(true)
				.build();
		}
	}

	private static boolean isOpen(int era) {
		return (era & 1) == 1;
	}

}
