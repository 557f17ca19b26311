package io.github.distributedlock;

/**
 * A listener for the events of locks.
 * <p>
 * A listener is called on the thread of the application on which the event happens, or
 * which completes the future of an asynchronous request. A listener must not block that
 * thread. For events that happen on other threads, such as {@link LockEvent.Lost} and
 * {@link LockEvent.RenewedLate}, each listener is called on a separate thread, one event
 * after the other. A listener that blocks there delays only further events of the same
 * listener, and a warning is logged after 10 seconds. An implementation must be safe for
 * use by many threads. An exception or {@link Error} of a listener is logged and has no
 * other effect.
 *
 * @since 1.0
 */
@FunctionalInterface
public interface LockListener {

	/**
	 * Handles an event that has happened.
	 * @param event the event
	 */
	void onEvent(LockEvent event);

}
