package io.github.distributedlock.faults;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.autoconfigure.Contexts;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.context.LifecycleAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * An application that ends while locks are in use. The members of the workload are
 * others.
 */
@Tag("faults")
class ShutdownFaultsTests {

	@RegisterExtension
	static final OwnThreads THREADS = new OwnThreads();

	/** A lease that does not end before the test has looked at the lock. */
	private static final Duration LEASE = Duration.ofSeconds(60);

	@ParameterizedTest
	@EnumSource
	void theContextIsClosedWhileLocksAreUsed(Client client) throws Exception {
		FaultRow.of("application context closed: a lock held, a guarded method running, a thread waiting", client)
			.promising(Promise.NOTHING_LOST.withRemark("what the application held is left to run out"))
			.run((trial) -> application(client, trial).run((context) -> {
				DistributedLock lock = context.getBean(DistributedLock.class);
				LockHandle held = lock.acquire("held");
				Service service = context.getBean(Service.class);
				CompletableFuture<String> running = CompletableFuture.supplyAsync(service::work, THREADS);
				LockHandle guarding = service.lock();
				CompletableFuture<LockHandle> waiting = waiting(lock, trial);
				CompletableFuture<Void> closing = CompletableFuture.runAsync(context::close, THREADS);
				assertThat(waiting).failsWithin(Workload.PATIENCE)
					.withThrowableOfType(ExecutionException.class)
					.withCauseInstanceOf(LockBackendException.class)
					.withMessageContaining("the application is shutting down");
				assertThat(closing).isNotDone();
				assertThat(held.isHeld() && guarding.isHeld()).as("held while a method runs").isTrue();
				service.end();
				assertThat(Patience.get(running, "the guarded method")).isEqualTo("done");
				Patience.get(closing, "the end of the context");
				trial.admin((redis) -> assertThat(redis.exists("lock:{guarded}")).as("given back").isFalse());
				assertIsLost(held);
				assertIsLeftToRunOut(trial, held);
				held.close();
				assertIsLeftToRunOut(trial, held);
				trial.admin((redis) -> redis.del("lock:{held}"));
			}));
	}

	private static ApplicationContextRunner application(Client client, Trial trial) {
		return Contexts.withRedis()
			.withConfiguration(AutoConfigurations.of(LifecycleAutoConfiguration.class))
			.withPropertyValues("spring.data.redis.client-type=" + client,
					"spring.lifecycle.timeout-per-shutdown-phase=1h", "spring.data.redis.port=" + trial.server().port(),
					"distributed-lock.watchdog-timeout=" + LEASE)
			.withBean(Service.class);
	}

	/** Waits for a lock that the workload does not give back. */
	private static CompletableFuture<LockHandle> waiting(DistributedLock lock, Trial trial) {
		CompletableFuture<LockHandle> waiting = CompletableFuture.supplyAsync(() -> lock.acquire(Workload.LONG),
				THREADS);
		trial.admin((redis) -> await("both the rival and the application wait")
			.until(() -> redis.zcard("lock-waiters:{" + Workload.LONG + "}") == 2));
		return waiting;
	}

	private static void assertIsLost(LockHandle handle) {
		assertThat(handle.isHeld()).isFalse();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::checkHeld)
			.returns(Reason.SHUTDOWN, LockLostException::reason);
	}

	/**
	 * Asserts that nobody deletes a lock that is held, and nobody renews the lock.
	 */
	private static void assertIsLeftToRunOut(Trial trial, LockHandle handle) {
		String key = handle.keys().get(0);
		trial.admin((redis) -> {
			assertThat(redis.get("lock:{" + key + "}")).as(key).isEqualTo(handle.owner());
			assertThat(redis.pttl("lock:{" + key + "}")).as(key).isLessThanOrEqualTo(LEASE.toMillis());
		});
		assertThat(trial.rival().engine().tryAcquire(key)).as(key).isEmpty();
	}

	static class Service {

		private final CompletableFuture<LockHandle> lock = new CompletableFuture<>();

		private final CountDownLatch end = new CountDownLatch(1);

		@io.github.distributedlock.annotation.DistributedLock(key = "'guarded'")
		public String work() {
			this.lock.complete(LockHandle.current().orElseThrow());
			Patience.await(this.end, "the end of the guarded method");
			return "done";
		}

		public LockHandle lock() {
			return Patience.get(this.lock, "the lock of the guarded method");
		}

		public void end() {
			this.end.countDown();
		}

	}

}
