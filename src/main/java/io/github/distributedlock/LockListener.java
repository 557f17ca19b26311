package io.github.distributedlock;

/**
 * Gets to know what happens to locks.
 * <p>
 * Called on the thread where it happens, for {@link LockEvent.Lost} on a thread of the
 * library; an implementation is safe for use by many threads and does not block. What it
 * throws is logged and harms nobody.
 */
@FunctionalInterface
public interface LockListener {

	/**
	 * Called after the event.
	 * @param event what happened
	 */
	void onEvent(LockEvent event);

}
