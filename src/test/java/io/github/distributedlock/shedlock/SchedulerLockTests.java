package io.github.distributedlock.shedlock;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import net.javacrumbs.shedlock.core.LockAssert;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * ShedLock's annotation in two applications that share a store.
 */
class SchedulerLockTests {

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	private final ApplicationContextRunner application = application();

	@Test
	void jobRunsInOneApplicationAtATime() {
		this.application.run((one) -> this.application.run((other) -> {
			Job first = one.getBean(Job.class);
			Job second = other.getBean(Job.class);
			CompletableFuture<Void> running = CompletableFuture.runAsync(first::run, this.threads);
			Patience.await(first.begun(), "the job");
			second.run();
			assertThat(second.runs()).as("runs while the first one runs").isZero();
			first.goOn().countDown();
			Patience.get(running, "the end of the job");
			second.goOn().countDown();
			second.run();
			assertThat(second.runs()).isOne();
			assertThat(first.runs()).isOne();
		}));
	}

	private static ApplicationContextRunner application() {
		InMemoryLockBackend store = new InMemoryLockBackend();
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.adapters.shedlock=true")
			.withBean(LockBackend.class, () -> store)
			.withUserConfiguration(Jobs.class)
			.withBean(Job.class);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableSchedulerLock(defaultLockAtMostFor = "10m")
	static class Jobs {

	}

	// Has only methods for tests to use, since the bean is a proxy.
	public static class Job {

		private final CountDownLatch begun = new CountDownLatch(1);

		private final CountDownLatch goOn = new CountDownLatch(1);

		private final AtomicInteger runs = new AtomicInteger();

		@SchedulerLock(name = "job")
		public void run() {
			LockAssert.assertLocked();
			LockExtender.extendActiveLock(Duration.ofHours(1), Duration.ZERO);
			this.begun.countDown();
			Patience.await(this.goOn, "the signal to go on");
			this.runs.incrementAndGet();
		}

		public CountDownLatch begun() {
			return this.begun;
		}

		public CountDownLatch goOn() {
			return this.goOn;
		}

		public int runs() {
			return this.runs.get();
		}

	}

}
