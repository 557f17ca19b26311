package io.github.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.github.distributedlock.CurrentLock;
import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.fixtures.JvmProcess;
import io.github.distributedlock.fixtures.Patience;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.LifecycleAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * An application that is closed while locks are in use. Spring waits for an hour, so that
 * no time-out ends anything.
 */
class ShutdownTests {

	private static final String PATIENCE = "spring.lifecycle.timeout-per-shutdown-phase=1h";

	private final InMemoryLockBackend store = new InMemoryLockBackend();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final ApplicationContextRunner contextRunner = Contexts.withoutRedis()
		.withConfiguration(AutoConfigurations.of(LifecycleAutoConfiguration.class))
		.withPropertyValues(PATIENCE)
		.withBean(LockBackend.class, () -> this.store)
		.withBean(Service.class);

	private final CountDownLatch started = new CountDownLatch(1);

	private final CountDownLatch end = new CountDownLatch(1);

	private final CompletableFuture<Boolean> heldAtItsEnd = new CompletableFuture<>();

	@AfterEach
	void endThreads() {
		this.threads.shutdownNow();
	}

	@ParameterizedTest
	@MethodSource
	void closeWaitsForTheEndOfACallAndLeavesNoKey(Call call) {
		this.contextRunner.run((context) -> {
			DistributedLock lock = context.getBean(DistributedLock.class);
			Future<?> running = this.threads
				.submit(() -> call.begin(context.getBean(Service.class), lock, this::work, this.threads));
			Patience.await(this.started, "the call");
			this.threads.submit(() -> {
				Awaitility.await("the engine is stopped").atMost(Patience.PATIENCE).until(() -> isStopped(lock));
				this.end.countDown();
			});
			context.close();
			assertThat(this.heldAtItsEnd).isCompletedWithValue(true);
			assertThat(isFree("k")).isTrue();
			running.get(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS);
		});
	}

	static Stream<Named<Call>> closeWaitsForTheEndOfACallAndLeavesNoKey() {
		return Stream.of(Named.of("annotated method", (service, lock, work, executor) -> service.method(work)),
				Named.of("stage of an annotated method",
						(service, lock, work, executor) -> service.stage(work, executor)),
				Named.of("execute", (service, lock, work, executor) -> lock.execute("k", () -> {
					work.run();
					return true;
				})), Named.of("run", (service, lock, work, executor) -> lock.run("k", work::run)));
	}

	private void work() {
		this.started.countDown();
		Patience.await(this.end, "the end of the engine");
		this.heldAtItsEnd.complete(LockHandle.current().orElseThrow().isHeld());
	}

	@Test
	void closeWaitsForNoHandleByHandAndLeavesItToRunOut() {
		this.contextRunner.run((context) -> {
			LockHandle handle = context.getBean(DistributedLock.class).acquire("by hand");
			context.close();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::checkHeld)
				.returns(LockEvent.Lost.Reason.SHUTDOWN, LockLostException::reason);
			handle.close();
			assertThat(isFree("by hand")).as("deleted under its holder").isFalse();
		});
	}

	@Test
	void contextThatIsClosedInsideAnAnnotatedMethodDoesNotWaitForIt() {
		this.contextRunner.run((context) -> {
			context.getBean(Service.class).method(context::close);
			assertThat(context.getSourceApplicationContext().isActive()).isFalse();
		});
	}

	@Test
	void exitInsideAnAnnotatedMethodWaitsNoLongerThanAShutdownMay() {
		try (JvmProcess process = JvmProcess.start(Exiting.class)) {
			assertThat(process.awaitExit()).isEqualTo(3);
		}
	}

	private boolean isFree(String key) {
		return this.store.acquire(Claim.of(key, "probe#1:1", "probe#1", Duration.ofMinutes(1))).acquired();
	}

	private static boolean isStopped(DistributedLock lock) {
		try {
			lock.acquire("free").close();
			return false;
		}
		catch (LockBackendException ex) {
			return true;
		}
	}

	/**
	 * Something that runs under the lock 'k'.
	 */
	interface Call {

		void begin(Service service, DistributedLock lock, Runnable work, Executor executor);

	}

	static class Service {

		@io.github.distributedlock.annotation.DistributedLock(key = "'k'")
		public void method(Runnable action) {
			action.run();
		}

		@io.github.distributedlock.annotation.DistributedLock(key = "'k'")
		public CompletableFuture<Void> stage(Runnable action, Executor executor) {
			LockHandle handle = LockHandle.current().orElseThrow();
			return CompletableFuture.runAsync(() -> {
				try (CurrentLock binding = CurrentLock.bind(handle)) {
					action.run();
				}
			}, executor);
		}

	}

	/**
	 * An application that ends itself from inside an annotated method.
	 */
	@Import(Service.class)
	@ImportAutoConfiguration({ DistributedLockAutoConfiguration.class, AopAutoConfiguration.class,
			LifecycleAutoConfiguration.class })
	static class Exiting {

		public static void main(String[] args) {
			SpringApplication application = new SpringApplication(Exiting.class);
			application.setWebApplicationType(WebApplicationType.NONE);
			application.run("--distributed-lock.backend=memory", "--spring.lifecycle.timeout-per-shutdown-phase=1s")
				.getBean(Service.class)
				.method(() -> System.exit(3));
		}

	}

}
