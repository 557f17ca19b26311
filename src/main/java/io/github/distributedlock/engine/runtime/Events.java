package io.github.distributedlock.engine.runtime;

import java.util.List;
import java.util.function.Supplier;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the listeners. None of them harms another, nor the caller.
 */
public final class Events {

	/**
	 * How one of the listeners is told.
	 */
	private interface Way {

		void tell(int listener, Runnable call, Supplier<String> what);

	}

	private static final Logger logger = LoggerFactory.getLogger(Events.class);

	private final List<LockListener> listeners;

	private final Way way;

	private Events(List<LockListener> listeners, Way way) {
		this.listeners = listeners;
		this.way = way;
	}

	/**
	 * Tells them on the thread that publishes: one of the application's.
	 */
	public static Events here(List<LockListener> listeners) {
		return new Events(List.copyOf(listeners), (listener, call, what) -> UserCode.run(call, what));
	}

	/**
	 * Tells the same listeners on other threads: each on its own, so that one that blocks
	 * delays no other, and one event after the other.
	 */
	public Events elsewhere(Workers workers, UserCode userCode, EngineTime time) {
		SerialTasks calls = new SerialTasks(workers::listener, time);
		return new Events(this.listeners, (listener, call, what) -> UserCode
			.run(() -> calls.run(listener, () -> userCode.runWatched(call, what)), what));
	}

	/**
	 * Whether anybody listens, or reads the log; else no event need be made.
	 */
	public boolean areHeard() {
		return !this.listeners.isEmpty() || logger.isDebugEnabled();
	}

	public void publish(LockEvent event) {
		if (logger.isDebugEnabled()) {
			// An acquired lock has no handle yet: what throws here would leave it held.
			UserCode.run(() -> log(event), () -> "The log of an event");
		}
		for (int i = 0; i < this.listeners.size(); i++) {
			LockListener listener = this.listeners.get(i);
			// Not its toString, which is code of the application, too.
			this.way.tell(i, () -> listener.onEvent(event), () -> "Lock listener " + listener.getClass().getName()
					+ " on " + LockException.printable(event.toString()));
		}
	}

	/**
	 * What goes well. What goes wrong is logged where it is noticed.
	 */
	private static void log(LockEvent event) {
		if (event instanceof LockEvent.Acquired acquired) {
			logger.debug("Lock {} is acquired after {} by {}", LockException.printable(acquired.keys()),
					Text.of(acquired.waited()), acquired.owner());
		}
		else if (event instanceof LockEvent.NotAcquired busy) {
			logger.debug("Lock {} is busy, given up after {}{}", LockException.printable(busy.keys()),
					Text.of(busy.waited()), Text.heldBy(busy.holder()));
		}
		else if (event instanceof LockEvent.Released released) {
			logger.debug("Lock '{}' is released after {} by {}", LockException.printable(released.key()),
					Text.of(released.held()), released.owner());
		}
	}

}
