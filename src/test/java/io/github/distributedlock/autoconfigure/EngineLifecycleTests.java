package io.github.distributedlock.autoconfigure;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.backend.LockBackend;
import org.junit.jupiter.api.Test;
import org.mockito.InOrder;

import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.EventListener;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;

/**
 * Tests for {@link EngineLifecycle}, and for the end of the beans.
 */
class EngineLifecycleTests {

	private final ApplicationContextRunner contextRunner = Contexts.inMemory();

	@Test
	void stopsAndStartsWithTheContext() {
		this.contextRunner.withBean(Losses.class).run((context) -> {
			DistributedLock lock = context.getBean(DistributedLock.class);
			LockHandle handle = lock.acquire("running");
			context.getSourceApplicationContext(ConfigurableApplicationContext.class).stop();
			assertIsStopped(lock);
			assertThat(handle.isHeld()).isFalse();
			handle.close();
			await().atMost(Duration.ofSeconds(5))
				.untilAsserted(() -> assertThat(context.getBean(Losses.class).losses).singleElement()
					.returns(LockEvent.Lost.Reason.SHUTDOWN, LockEvent.Lost::reason));
			context.getSourceApplicationContext(ConfigurableApplicationContext.class).start();
			assertIsOpen(lock);
			// Not deleted under the method that was running.
			assertThat(lock.tryAcquire("running")).isEmpty();
		});
	}

	@Test
	void pausesAndRestartsWithTheContext() {
		Method pause = ReflectionUtils.findMethod(ConfigurableApplicationContext.class, "pause");
		Method restart = ReflectionUtils.findMethod(ConfigurableApplicationContext.class, "restart");
		assumeThat(pause).as("since Spring Framework 7").isNotNull();
		this.contextRunner.run((context) -> {
			DistributedLock lock = context.getBean(DistributedLock.class);
			Object source = context.getSourceApplicationContext();
			ReflectionUtils.invokeMethod(pause, source);
			assertIsStopped(lock);
			ReflectionUtils.invokeMethod(restart, source);
			assertIsOpen(lock);
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
	void startsEvenIfBeansAreLazy() {
		this.contextRunner
			.withInitializer(
					(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
			.withPropertyValues("distributed-lock.lease-time=1ms")
			.run((context) -> assertThat(context).hasFailed());
	}

	@Test
	void endsTheEngineBeforeTheBackend() {
		LockBackend backend = mock();
		LockBackend.Listening listening = mock();
		given(backend.listen(any(), any())).willReturn(listening);
		Contexts.withoutRedis().withBean("own", LockBackend.class, () -> backend).run((context) -> {
			context.close();
			InOrder order = inOrder(listening, backend);
			order.verify(listening).close();
			order.verify(backend).close();
		});
	}

	private static void assertIsOpen(DistributedLock lock) {
		lock.acquire("free").close();
	}

	private static void assertIsStopped(DistributedLock lock) {
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> lock.tryAcquire("free"))
			.withMessageContaining("the lock engine is stopped");
	}

	static class Losses {

		private final List<LockEvent.Lost> losses = new CopyOnWriteArrayList<>();

		@EventListener
		void onLost(LockEvent.Lost lost) {
			this.losses.add(lost);
		}

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
