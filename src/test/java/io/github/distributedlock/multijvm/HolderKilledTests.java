package io.github.distributedlock.multijvm;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.JvmProcess;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A lock of a JVM that was killed goes to a waiter in another JVM when the lease has run
 * out, and not before.
 */
@Execution(ExecutionMode.CONCURRENT)
class HolderKilledTests {

	@RegisterExtension
	final TestRedis redis = new TestRedis();

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	private static final Duration LEASE = Duration.ofSeconds(6);

	/**
	 * Redis counts whole milliseconds, and on another clock.
	 */
	private static final Duration CLOCK_ERROR = Duration.ofMillis(5);

	private static final String KEY = "nightly-report";

	private static final String LOCK = "lock:{nightly-report}";

	private static final String WAITERS = "lock-waiters:{nightly-report}";

	@ParameterizedTest
	@EnumSource
	void theNextHolderComesWhenTheLeaseHasRunOut(Client client) {
		boolean held;
		do {
			held = killHolder(client);
		}
		while (!held);
	}

	/**
	 * Kills a holder that others wait for.
	 * @return {@code false} if the machine stood still for so long that the holder had
	 * lost the lock before
	 */
	private boolean killHolder(Client client) {
		Jedis admin = this.redis.admin();
		LockEngine engine = this.redis.engine(client);
		try (JvmProcess holder = JvmProcess.start(HolderJvm.class, client.name(), String.valueOf(this.redis.port()),
				String.valueOf(LEASE.toMillis()), KEY)) {
			String owner = holder.awaitLineAfter("owner ");
			CompletableFuture<Long> acquired = CompletableFuture.supplyAsync(() -> acquire(engine), this.threads);
			await().until(() -> admin.zcard(WAITERS) == 1 || !owner.equals(admin.get(LOCK)));
			awaitRenewal(admin);

			long asked = System.nanoTime();
			long left = TimeUnit.MILLISECONDS.toNanos(admin.pttl(LOCK));
			boolean held = owner.equals(admin.get(LOCK));
			long killed = System.nanoTime();
			holder.kill();
			long taken = Patience.get(acquired, "the next holder");
			if (held) {
				System.out.printf("Holder killed (%s): taken over %d ms after the kill, %d ms after the lease%n",
						client, TimeUnit.NANOSECONDS.toMillis(taken - killed),
						TimeUnit.NANOSECONDS.toMillis(taken - asked - left));
				// Lower bound: the lease was longer when its rest was asked for.
				assertThat(taken - asked).isGreaterThan(left - CLOCK_ERROR.toNanos());
			}
			return held;
		}
	}

	private static long acquire(LockEngine engine) {
		try (LockHandle handle = engine.acquire(LockRequest.of(KEY).waitTime(Duration.ofMinutes(1)))) {
			return System.nanoTime();
		}
	}

	// A lease with more left than before was renewed, or somebody else has the key.
	private static void awaitRenewal(Jedis admin) {
		long[] before = { admin.pttl(LOCK) };
		await().pollInterval(Duration.ofMillis(10)).until(() -> {
			long now = admin.pttl(LOCK);
			boolean renewed = now > before[0] || now < 0;
			before[0] = now;
			return renewed;
		});
	}

}
