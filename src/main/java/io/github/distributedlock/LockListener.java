package io.github.distributedlock;

/**
 * Gets to know what happens to locks.
 * <p>
 * Called on the thread of the application on which the event happens, or which completes
 * the future of an asynchronous request; it must not block that thread. It is notified of
 * events that happen elsewhere, such as {@link LockEvent.Lost} and
 * {@link LockEvent.RenewedLate}, on a thread of its own, one event after the other: if it
 * blocks there, it delays only its own further events, and a warning is logged after 10
 * seconds. An implementation is safe for use by many threads. What it throws, be it an
 * {@link Error}, is logged and has no other effect.
 *
 * @since 1.0
 */
@FunctionalInterface
public interface LockListener {

	/**
	 * Called after the event.
	 * @param event what happened
	 */
	void onEvent(LockEvent event);

}
