package io.github.distributedlock.observability;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockListener;

/**
 * Events of the JDK Flight Recorder: {@link LockAcquire}, {@link LockHeld} and
 * {@link LockLost}, which are off unless a recording enables them. Safe for use by many
 * threads.
 * <p>
 * No API: public only for the auto-configuration, which registers it where the runtime
 * image has the module {@code jdk.jfr}.
 */
public final class FlightRecorderEvents implements LockListener {

	/*
	 * Never recorded, only asked whether such events are: an event that is off is not
	 * even made.
	 */

	private static final LockAcquire ACQUIRE = new LockAcquire();

	private static final LockHeld HELD = new LockHeld();

	private static final LockLost LOST = new LockLost();

	@Override
	public void onEvent(LockEvent event) {
		if (event instanceof LockEvent.Acquired acquired && ACQUIRE.isEnabled()) {
			LockAcquire.of(acquired).commit();
		}
		else if (event instanceof LockEvent.NotAcquired busy && ACQUIRE.isEnabled()) {
			LockAcquire.of(busy).commit();
		}
		else if (event instanceof LockEvent.Released released && HELD.isEnabled()) {
			LockHeld.of(released).commit();
		}
		else if (event instanceof LockEvent.Lost lost && LOST.isEnabled()) {
			LockLost.of(lost).commit();
		}
	}

}
