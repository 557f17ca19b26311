package io.github.distributedlock.aop;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockListener;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.annotation.IfBusy;
import io.github.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.fixtures.Patience;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A job that two applications schedule runs in one of them at a time, and the other one
 * skips the job without a word.
 */
class SchedulerTests {

	private static final int RUNS = 20;

	private final Plant plant = new Plant();

	private final ApplicationContextRunner application = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class, AopAutoConfiguration.class))
		.withBean(LockBackend.class, () -> this.plant.backend, (definition) -> definition.setDestroyMethodName(""))
		.withBean(Plant.class, () -> this.plant)
		.withUserConfiguration(Schedule.class);

	@ParameterizedTest
	@ValueSource(classes = { Job.class, ReactiveJob.class })
	void jobRunsInOneApplicationWhileTheOtherSkipsIt(Class<?> job) {
		ApplicationContextRunner application = this.application.withUserConfiguration(job);
		application.run((one) -> application.run((two) -> {
			assertThat(one).hasNotFailed();
			assertThat(two).hasNotFailed();
			Awaitility.await().until(() -> this.plant.runs.get() >= RUNS || !this.plant.faults.isEmpty());
			assertThat(this.plant.faults).isEmpty();
			this.plant.close();
		}));
	}

	/**
	 * The state that the two applications share, and the runs of their jobs.
	 */
	static class Plant {

		final LockBackend backend = new InMemoryLockBackend();

		final Semaphore skipped = new Semaphore(0);

		final AtomicInteger inside = new AtomicInteger();

		final AtomicInteger runs = new AtomicInteger();

		final Queue<Object> faults = new ConcurrentLinkedQueue<>();

		volatile boolean closed;

		void close() {
			this.closed = true;
			this.skipped.release();
		}

		void run() {
			if (this.closed) {
				return;
			}
			if (this.inside.incrementAndGet() > 1) {
				this.faults.add("two runs overlap");
			}
			try {
				// Only a skip during this run counts.
				this.skipped.drainPermits();
				if (!this.skipped.tryAcquire(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
					this.faults.add("nobody skipped the job while it ran");
				}
				this.runs.incrementAndGet();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt(); // the application stops
			}
			finally {
				this.inside.decrementAndGet();
			}
		}

	}

	static class Job {

		private final Plant plant;

		Job(Plant plant) {
			this.plant = plant;
		}

		@Scheduled(fixedDelay = 20)
		@DistributedLock(key = "'nightly-report'", ifBusy = IfBusy.SKIP)
		public void run() {
			this.plant.run();
		}

	}

	/**
	 * The scheduler calls the method once, and subscribes for each run.
	 */
	static class ReactiveJob {

		private final Plant plant;

		ReactiveJob(Plant plant) {
			this.plant = plant;
		}

		@Scheduled(fixedDelay = 20)
		@DistributedLock(key = "'nightly-report'", ifBusy = IfBusy.SKIP)
		public Mono<Void> run() {
			return Mono.<Void>fromRunnable(this.plant::run).subscribeOn(Schedulers.boundedElastic());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class Schedule {

		@Bean
		ThreadPoolTaskScheduler taskScheduler(Plant plant) {
			ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
			scheduler.setErrorHandler(plant.faults::add);
			return scheduler;
		}

		@Bean
		LockListener skips(Plant plant) {
			return (event) -> {
				if (event instanceof LockEvent.NotAcquired) {
					plant.skipped.release();
				}
			};
		}

	}

}
