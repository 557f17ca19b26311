package io.github.distributedlock.faults;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import io.github.distributedlock.LockInterruptedException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.faults.Recorder.Held;
import io.github.distributedlock.fixtures.Client;
import org.junit.jupiter.api.Tag;
import redis.clients.jedis.Jedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Threads that are interrupted while they acquire.
 */
@Tag("faults")
class InterruptFaultsTests {

	private static final int ACQUIRES = 1_000;

	private static final String FREE = "free";

	/** Long enough that a lock that is gone was cleaned up, and has not run out. */
	private static final Duration LONG_LEASE = Duration.ofMinutes(10);

	private static final Duration WAIT = Duration.ofMillis(20);

	/** A little longer than an acquire takes. */
	private static final long LATEST_NANOS = TimeUnit.MICROSECONDS.toNanos(1_500);

	@EachClient
	void anAcquireIsInterruptedAnywhere(Client client) throws Exception {
		FaultRow.of("thread interrupted anywhere in acquire, a thousand times", client)
			.promising(Promise.NOTHING_LOST)
			.run((trial) -> {
				int interrupted = interruptAcquires(trial);
				assertThat(interrupted).as("interrupted before the end").isBetween(1, ACQUIRES - 1);
				trial.measureOrphans(FREE);
			});
	}

	private static int interruptAcquires(Trial trial) {
		int interrupted = 0;
		try (Jedis admin = trial.server().admin()) {
			for (int i = 0; i < ACQUIRES; i++) {
				Interrupt interrupt = Interrupt.soon();
				String key = (i % 2 == 0) ? FREE : Workload.SHORT;
				try {
					Optional<Held> held = trial.recorder()
						.acquire(trial.rival().engine(), LockRequest.of(key).waitTime(WAIT).leaseTime(LONG_LEASE));
					held.ifPresent((mine) -> checkAndRelease(mine, admin, "lock:{" + key + "}"));
				}
				catch (LockInterruptedException ex) {
					interrupted++;
					assertThat(Thread.currentThread().isInterrupted()).as("flag after %s", ex).isTrue();
				}
				interrupt.await();
				assertThat(Thread.interrupted()).as("flag").isTrue();
			}
			return interrupted;
		}
		finally {
			Thread.interrupted();
		}
	}

	private static void checkAndRelease(Held held, Jedis admin, String lock) {
		try (held) {
			assertThat(admin.get(lock)).isEqualTo(held.handle().owner());
		}
	}

	/** Comes at a random moment. */
	private record Interrupt(AtomicBoolean done) {

		static Interrupt soon() {
			Interrupt interrupt = new Interrupt(new AtomicBoolean());
			Thread victim = Thread.currentThread();
			long at = System.nanoTime() + ThreadLocalRandom.current().nextLong(LATEST_NANOS);
			Thread thread = new Thread(() -> {
				LockSupport.parkNanos(at - System.nanoTime());
				victim.interrupt();
				interrupt.done.set(true);
			}, "interrupter");
			thread.start();
			return interrupt;
		}

		// In a thread that is interrupted, or will be at any moment, nothing else waits.
		void await() {
			while (!this.done.get()) {
				Thread.yield();
			}
		}

	}

}
