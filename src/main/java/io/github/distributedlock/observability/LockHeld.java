package io.github.distributedlock.observability;

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
 * A key was given back.
 */
@Name("io.github.distributedlock.LockHeld")
@Label("Distributed Lock Held")
@Description("A distributed lock was given back")
@Category("Distributed Lock")
@Enabled(false)
final class LockHeld extends Event {

	@Label("Name")
	@Nullable String name;

	@Label("Key")
	@Nullable String key;

	@Label("Owner")
	@Nullable String owner;

	@Label("Held")
	@Timespan
	long held;

	static LockHeld of(LockEvent.Released released) {
		LockHeld event = new LockHeld();
		event.name = released.name();
		event.key = released.key();
		event.owner = released.owner();
		event.held = released.held().toNanos();
		return event;
	}

}
