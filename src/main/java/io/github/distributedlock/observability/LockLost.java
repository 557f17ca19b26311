package io.github.distributedlock.observability;

import io.github.distributedlock.LockEvent;
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
 * A key is no longer held although nobody gave it back. On a thread of the engine, so
 * that the stack says nothing.
 */
@Name("io.github.distributedlock.LockLost")
@Label("Distributed Lock Lost")
@Description("A distributed lock is no longer held although nobody gave it back")
@Category("Distributed Lock")
@Enabled(false)
@StackTrace(false)
final class LockLost extends Event {

	@Label("Name")
	@Nullable String name;

	@Label("Key")
	@Nullable String key;

	@Label("Owner")
	@Nullable String owner;

	@Label("Reason")
	@Nullable String reason;

	@Label("Held")
	@Timespan
	long held;

	static LockLost of(LockEvent.Lost lost) {
		LockLost event = new LockLost();
		event.name = lost.name();
		event.key = lost.key();
		event.owner = lost.owner();
		event.reason = lost.reason().name();
		event.held = lost.held().toNanos();
		return event;
	}

}
