package io.github.distributedlock.observability;

import java.time.Duration;
import java.util.List;

import io.github.distributedlock.LockEvent;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/**
 * A request has its lock, or a key was busy for as long as it could wait.
 */
@Name("io.github.distributedlock.LockAcquire")
@Label("Distributed Lock Acquire")
@Description("A request for a distributed lock has ended")
@Category("Distributed Lock")
@Enabled(false)
final class LockAcquire extends Event {

	@Label("Name")
	@Nullable String name;

	@Label("Keys")
	@Nullable String keys;

	@Label("Acquired")
	boolean acquired;

	@Label("Waited")
	@Timespan
	long waited;

	@Label("Holder")
	@Description("Owner token of the one that has the lock, where it is known")
	@Nullable String holder;

	static LockAcquire of(LockEvent.Acquired event) {
		return of(event.name(), event.keys(), true, event.waited(), event.owner());
	}

	static LockAcquire of(LockEvent.NotAcquired event) {
		return of(event.name(), event.keys(), false, event.waited(), event.holder());
	}

	private static LockAcquire of(String name, List<String> keys, boolean acquired, Duration waited,
			@Nullable String holder) {
		LockAcquire event = new LockAcquire();
		event.name = name;
		event.keys = String.join(",", keys);
		event.acquired = acquired;
		event.waited = waited.toNanos();
		event.holder = holder;
		return event;
	}

}
