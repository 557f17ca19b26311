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
@Description("A request has its distributed lock, or a key was busy for as long as it could wait")
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

	@Label("Owner")
	@Description("Owner token of the request, if it has the lock")
	@Nullable String owner;

	@Label("Holder")
	@Description("Owner token for which a key was busy, where it is known")
	@Nullable String holder;

	static LockAcquire of(LockEvent.Acquired event) {
		LockAcquire acquired = of(event.name(), event.keys(), event.waited());
		acquired.acquired = true;
		acquired.owner = event.owner();
		return acquired;
	}

	static LockAcquire of(LockEvent.NotAcquired event) {
		LockAcquire busy = of(event.name(), event.keys(), event.waited());
		busy.holder = event.holder();
		return busy;
	}

	private static LockAcquire of(String name, List<String> keys, Duration waited) {
		LockAcquire event = new LockAcquire();
		event.name = name;
		event.keys = String.join(",", keys);
		event.waited = waited.toNanos();
		return event;
	}

}
