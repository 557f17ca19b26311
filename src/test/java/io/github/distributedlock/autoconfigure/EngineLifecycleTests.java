package io.github.distributedlock.autoconfigure;

import java.lang.reflect.Method;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.ForwardingLockBackend;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockBackend.Listening;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.mockito.InOrder;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;

/**
 * Tests for {@link EngineLifecycle}, and for the end of the beans.
 */
class EngineLifecycleTests {

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	private final ApplicationContextRunner contextRunner = Contexts.inMemory();

	@Test
	void stopsAndStartsWithTheContext() {
		this.contextRunner.run((context) -> {
			DistributedLock lock = context.getBean(DistributedLock.class);
			LockHandle handle = lock.acquire(LockRequest.of("by hand").detached(true));
			context.getSourceApplicationContext(ConfigurableApplicationContext.class).stop();
			assertIsStopped(lock);
			assertThat(handle.isHeld()).isTrue();
			context.getSourceApplicationContext(ConfigurableApplicationContext.class).start();
			assertIsOpen(lock);
			handle.close();
			lock.acquire("by hand").close();
		});
	}

	@Test
	void isNotPausedWithTheContext() {
		Method pause = ReflectionUtils.findMethod(ConfigurableApplicationContext.class, "pause");
		assumeThat(pause).as("since Spring Framework 7").isNotNull();
		this.contextRunner.run((context) -> {
			ReflectionUtils.invokeMethod(pause, context.getSourceApplicationContext());
			assertIsOpen(context.getBean(DistributedLock.class));
		});
	}

	@Test
	void isOpenForAllThatStartsAndStops() {
		this.contextRunner.withBean(EarlyAndLate.class).run((context) -> {
			EarlyAndLate user = context.getBean(EarlyAndLate.class);
			assertThat(user.locked).containsExactly("start");
			context.close();
			assertThat(user.locked).containsExactly("start", "stop");
		});
	}

	@Test
	void endsTheEngineBeforeTheBackend() {
		LockBackend backend = mock();
		Listening listening = mock();
		given(backend.listen(any(), any())).willReturn(listening);
		Contexts.withoutRedis().withBean("own", LockBackend.class, () -> backend).run((context) -> {
			context.close();
			InOrder order = inOrder(listening, backend);
			order.verify(listening).close();
			order.verify(backend).close();
		});
	}

	@Test
	void stopThatEndsAfterTheNextStartLeavesTheConnectionsOpen() {
		AtomicBoolean disconnected = new AtomicBoolean();
		LockBackend backend = new ForwardingLockBackend(new InMemoryLockBackend()) {

			@Override
			public void disconnect() {
				disconnected.set(true);
			}

		};
		Contexts.withoutRedis().withBean("own", LockBackend.class, () -> backend).run((context) -> {
			EngineLifecycle lifecycle = context.getBean(EngineLifecycle.class);
			CompletableFuture<@Nullable Void> call = new CompletableFuture<>();
			CompletableFuture<@Nullable Void> begun = new CompletableFuture<>();
			CompletableFuture<Void> caller = CompletableFuture
				.runAsync(() -> context.getBean(DistributedLock.class).run("key", () -> {
					begun.complete(null);
					Patience.get(call, "the end of the call");
				}), this.threads);
			Patience.get(begun, "a call inside a lock");
			CompletableFuture<@Nullable Void> stopped = new CompletableFuture<>();
			lifecycle.stop(() -> stopped.complete(null));
			lifecycle.start();
			assertThat(stopped).as("awaits the call").isNotDone();
			call.complete(null);
			Patience.get(stopped, "the end of the stop");
			assertThat(disconnected).isFalse();
			Patience.get(caller, "the end of the call");
		});
		assertThat(disconnected).as("by the last stop").isTrue();
	}

	private static void assertIsOpen(DistributedLock lock) {
		lock.acquire("free").close();
	}

	private static void assertIsStopped(DistributedLock lock) {
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> lock.tryAcquire("free"))
			.withMessageContaining("the lock engine is stopped");
	}

	static class EarlyAndLate implements SmartLifecycle {

		private final List<String> locked = new CopyOnWriteArrayList<>();

		private final DistributedLock lock;

		private volatile boolean running;

		EarlyAndLate(DistributedLock lock) {
			this.lock = lock;
		}

		@Override
		public void start() {
			this.lock.run("key", () -> this.locked.add("start"));
			this.running = true;
		}

		@Override
		public void stop() {
			this.lock.run("key", () -> this.locked.add("stop"));
			this.running = false;
		}

		@Override
		public boolean isRunning() {
			return this.running;
		}

		@Override
		public int getPhase() {
			return Integer.MIN_VALUE + 1;
		}

	}

}
