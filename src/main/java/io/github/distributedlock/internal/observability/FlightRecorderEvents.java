package io.github.distributedlock.internal.observability;

import java.time.Duration;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockListener;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.internal.Requests;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/**
 * Events of the JDK Flight Recorder, which are off unless a recording enables them. Safe
 * for use by many threads.
 */
final class FlightRecorderEvents implements LockListener {

	/*
	 * These events are never recorded. They only tell whether events of their type are
	 * enabled: no object is made for an event that is off.
	 */

	private static final LockAcquire ACQUIRE = new LockAcquire();

	private static final LockHeld HELD = new LockHeld();

	private static final LockLost LOST = new LockLost();

	@Override
	public void onEvent(LockEvent event) {
		if (event instanceof LockEvent.Acquired acquired && ACQUIRE.isEnabled()) {
			record(acquired.request(), acquired.waited(), acquired.owner(), null);
		}
		else if (event instanceof LockEvent.NotAcquired busy && ACQUIRE.isEnabled()) {
			record(busy.request(), busy.waited(), null, busy.holder());
		}
		else if (event instanceof LockEvent.Released released && HELD.isEnabled()) {
			record(new LockHeld(), released.request(), released.key(), released.owner(), released.held());
		}
		else if (event instanceof LockEvent.Lost lost && LOST.isEnabled()) {
			LockLost recorded = new LockLost();
			recorded.reason = lost.reason().name();
			record(recorded, lost.request(), lost.key(), lost.owner(), lost.held());
		}
	}

	private static void record(LockRequest request, Duration waited, @Nullable String owner, @Nullable String holder) {
		LockAcquire event = new LockAcquire();
		event.name = request.name();
		event.keys = Requests.shownKeys(request);
		event.acquired = owner != null;
		event.waited = waited.toNanos();
		event.owner = owner;
		event.holder = holder;
		event.commit();
	}

	private static void record(EndOfHold event, LockRequest request, String key, String owner, Duration held) {
		event.name = request.name();
		event.key = key;
		event.owner = owner;
		event.held = held.toNanos();
		event.commit();
	}

	/**
	 * A request has its lock, or a key was busy for as long as the request could wait.
	 */
	@Name("io.github.distributedlock.LockAcquire")
	@Label("Distributed Lock Acquire")
	@Description("A request has its distributed lock, or a key was busy for as long as it could wait")
	@Category("Distributed Lock")
	@Enabled(false)
	static final class LockAcquire extends Event {

		@Label("Name")
		@Nullable String name;

		@Label("Keys")
		@Nullable String keys;

		@Label("Acquired")
		boolean acquired;

		@Label("Waited")
		@Timespan
		long waited;

		@Label("Owner")
		@Description("Owner token of the request, if it has the lock")
		@Nullable String owner;

		@Label("Holder")
		@Description("Owner token for which a key was busy, where it is known")
		@Nullable String holder;

	}

	/**
	 * The fields of both ends of a hold: release and loss.
	 */
	@Category("Distributed Lock")
	@Enabled(false)
	abstract static class EndOfHold extends Event {

		@Label("Name")
		@Nullable String name;

		@Label("Key")
		@Nullable String key;

		@Label("Owner")
		@Nullable String owner;

		@Label("Held")
		@Timespan
		long held;

	}

	/**
	 * A key was released.
	 */
	@Name("io.github.distributedlock.LockHeld")
	@Label("Distributed Lock Held")
	@Description("A distributed lock was released")
	static final class LockHeld extends EndOfHold {

	}

	/**
	 * A key is no longer held although nobody gave the key back. The event has no stack,
	 * since a thread of the engine records the loss.
	 */
	@Name("io.github.distributedlock.LockLost")
	@Label("Distributed Lock Lost")
	@Description("A distributed lock is no longer held, although it was not released")
	@StackTrace(false)
	static final class LockLost extends EndOfHold {

		@Label("Reason")
		@Nullable String reason;

	}

}
