package io.github.distributedlock.demo.live;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Looks for tests: JVM 1 has apples and is paused or killed, JVM 2 runs and has pears,
 * JVM 3 starts.
 */
final class Looks {

	static final Locks OF_JVM_2 = new Locks(List.of(new Locks.Hold("stock:pears", Duration.ofMillis(2345), 2)),
			Map.of("stock:apples", 2L, "stock:pears", 1L), 3, Map.of("EXPIRED", 1L, "TAKEN", 2L), 4);

	private Looks() {
	}

	static Look look(State first, int holderOfApples, Locks ofJvm2) {
		return new Look(Duration.ofMillis(12_340),
				List.of(new Look.Jvm(1, first, 0, Optional.empty()),
						new Look.Jvm(2, State.RUNNING, 62.25, Optional.of(ofJvm2)),
						new Look.Jvm(3, State.STARTING, 0, Optional.empty())),
				List.of(new Look.Key("stock:apples", Optional.of(new Holder(holderOfApples, Duration.ofMillis(1250)))),
						new Look.Key("stock:pears", Optional.of(new Holder(2, Duration.ofMillis(2960)))),
						new Look.Key("stock:plums", Optional.empty())));
	}

}
