package io.github.distributedlock.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.engine.Resumed;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One JVM that is resumed twice from a snapshot, without being told of it: two engines
 * with connections of their own begin with one identity.
 */
@Tag("faults")
class ResumedTwiceFaultsTests {

	private static final int HOLDS = 500;

	@RegisterExtension
	static final OwnThreads THREADS = new OwnThreads();

	@EachClient
	void exactlyOneHolds(Client client) throws Exception {
		FaultRow.of("JVM resumed twice from one snapshot", client).run((trial) -> {
			try (RedisLockBackend first = client.backend(trial.server().port());
					RedisLockBackend second = client.backend(trial.server().port());
					LockEngine one = Resumed.engine(first).build();
					LockEngine other = Resumed.engine(second).build()) {
				AtomicInteger inside = new AtomicInteger();
				AtomicInteger overlaps = new AtomicInteger();
				List<CompletableFuture<Void>> holding = new ArrayList<>();
				for (LockEngine engine : List.of(one, one, other, other)) {
					holding.add(CompletableFuture.runAsync(() -> hold(engine, inside, overlaps), THREADS));
				}
				holding.forEach((each) -> Patience.get(each, "the holds"));
				System.out.printf("Resumed twice (%s): %d overlaps in %d holds%n", client, overlaps.get(), 4 * HOLDS);
				assertThat(overlaps).as("overlaps").hasValue(0);
				assertThat(instanceOf(one)).isNotEqualTo(instanceOf(other));
			}
		});
	}

	private static void hold(LockEngine engine, AtomicInteger inside, AtomicInteger overlaps) {
		for (int i = 0; i < HOLDS; i++) {
			try (LockHandle handle = engine.acquire(LockRequest.of("resumed").waitTime(Duration.ofMinutes(1)))) {
				if (inside.incrementAndGet() > 1) {
					overlaps.incrementAndGet();
				}
				Thread.yield();
				inside.decrementAndGet();
			}
		}
	}

	private static String instanceOf(LockEngine engine) {
		try (LockHandle handle = engine.acquire("resumed")) {
			return Claim.instanceOf(handle.owner());
		}
	}

}
