package io.github.distributedlock.engine;

import java.util.List;
import java.util.function.Supplier;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockListener;
import io.github.distributedlock.engine.EngineTime.Workers;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes events to the listeners. No listener harms another listener or the caller.
 */
final class Events {

	private static final Logger logger = LoggerFactory.getLogger(Events.class);

	private final List<LockListener> listeners;

	private final NodeTasks calls;

	private final EngineTime time;

	private final Workers workers;

	Events(List<LockListener> listeners, Workers workers, EngineTime time) {
		this.listeners = List.copyOf(listeners);
		this.calls = new NodeTasks(workers::listener, time, 1);
		this.time = time;
		this.workers = workers;
	}

	/**
	 * Returns whether anybody listens, or reads the log; else no event need be made.
	 */
	boolean areObserved() {
		return !this.listeners.isEmpty() || logger.isDebugEnabled();
	}

	/**
	 * Publishes an event on the calling thread, which is one of the application's.
	 */
	void publish(LockEvent event) {
		log(event);
		for (LockListener listener : this.listeners) {
			Failures.run(() -> listener.onEvent(event), name(listener, event));
		}
	}

	/**
	 * Publishes an event on other threads. Each listener gets one event after the other,
	 * so that a listener that blocks delays no other listener.
	 */
	void publishAsync(LockEvent event) {
		log(event);
		for (int i = 0; i < this.listeners.size(); i++) {
			Integer line = i;
			LockListener listener = this.listeners.get(i);
			Supplier<String> name = name(listener, event);
			Runnable call = () -> Failures.runWatched(() -> listener.onEvent(event), name, this.time, this.workers);
			Failures.run(() -> this.calls.run(line, call), name);
		}
	}

	/**
	 * Writes to the log on another thread, one entry after the other: an appender may
	 * block, and leases need the calling thread.
	 */
	void log(Runnable entry) {
		Failures.run(() -> this.calls.run("log", entry), () -> "The log");
	}

	// The name does not use the listener's toString, which is code of the application,
	// too.
	private static Supplier<String> name(LockListener listener, LockEvent event) {
		return () -> "Lock listener " + listener.getClass().getName() + " on "
				+ LockException.printable(event.toString());
	}

	/**
	 * Logs an event, for debugging. What goes wrong is also logged where the trouble is
	 * noticed. An acquired lock has no handle yet: an exception here would leave the lock
	 * held.
	 */
	private static void log(LockEvent event) {
		if (logger.isDebugEnabled()) {
			Failures.run(() -> logger.debug("{}", LockException.printable(event.toString())),
					() -> "The log of an event");
		}
	}

}
