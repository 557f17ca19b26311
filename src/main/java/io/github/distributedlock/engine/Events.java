package io.github.distributedlock.engine;

import java.util.List;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the listeners. One that throws harms nobody.
 */
final class Events {

	private static final Logger logger = LoggerFactory.getLogger(LockEngine.class);

	private final List<LockListener> listeners;

	Events(List<LockListener> listeners) {
		this.listeners = List.copyOf(listeners);
	}

	/**
	 * Whether anybody listens; else no event need be made.
	 */
	boolean areHeard() {
		return !this.listeners.isEmpty();
	}

	void publish(LockEvent event) {
		for (LockListener listener : this.listeners) {
			try {
				listener.onEvent(event);
			}
			catch (RuntimeException | LinkageError | AssertionError ex) {
				logger.warn("Lock listener {} failed on {}", listener, event, ex);
			}
		}
	}

}
