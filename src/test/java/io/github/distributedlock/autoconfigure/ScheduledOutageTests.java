package io.github.distributedlock.autoconfigure;

import java.util.NoSuchElementException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.annotation.IfBusy;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import io.reactivex.rxjava3.core.Single;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A scheduled method whose lock cannot be asked for says so in one line for each run that
 * it misses, and in one when that is over.
 */
@ExtendWith(OutputCaptureExtension.class)
class ScheduledOutageTests {

	@ParameterizedTest
	@CsvSource({ "jedis, blocking", "lettuce, blocking", "jedis, reactive", "lettuce, reactive" })
	void eachMissedRunIsALine(String client, String job, CapturedOutput output) {
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED)) {
			server.stop();
			Contexts.withRedis()
				.withPropertyValues("spring.data.redis.port=" + server.port(),
						"spring.data.redis.client-type=" + client)
				.withUserConfiguration(Schedule.class)
				.withBean(Job.class, () -> job.equals("blocking") ? new BlockingJob() : new ReactiveJob())
				.run((context) -> {
					String name = context.getBean(Job.class).getClass().getSuperclass().getSimpleName();
					await("three missed runs", () -> missedRuns(name, output) >= 3);
					// Whoever else calls the method is thrown the exception.
					await("the caller's exception", () -> context.getBean(Schedule.class).failures.get() > 0);
					server.start();
					assertThat(context.getBean(Job.class).ran().await(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS))
						.as("the job ran")
						.isTrue();
				});
		}
		assertThat(output).doesNotContain("\tat ").doesNotContain("Unexpected error occurred in scheduled");
		assertThat(output.getAll()).containsOnlyOnce("Job.run can be asked for again, after ");
	}

	@ParameterizedTest
	@ValueSource(classes = { BlockingJob.class, ReactiveJob.class })
	void eachRunDuringAStopIsALine(Class<? extends Job> type, CapturedOutput output) {
		Contexts.inMemory().withUserConfiguration(SchedulingConfiguration.class).withBean(type).run((context) -> {
			context.getBean(LockEngine.class).stop();
			String line = "Scheduled method " + type.getSimpleName()
					+ ".run did not run: Lock 'job' cannot be acquired: the lock engine is stopped";
			await("two runs", () -> output.getAll().split(line, -1).length > 2);
		});
		assertThat(output).doesNotContain("\tat ");
	}

	/**
	 * It must have a value, and cannot end without an exception.
	 */
	@Test
	void missedRunThatMustHaveAValueFailsForTheStore(CapturedOutput output) {
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED)) {
			server.stop();
			Contexts.withRedis()
				.withPropertyValues("spring.data.redis.port=" + server.port())
				.withUserConfiguration(SchedulingConfiguration.class)
				.withBean(SingleJob.class)
				.run((context) -> await("two missed runs",
						() -> output.getAll().split("Unexpected error occurred in scheduled", -1).length > 2));
		}
		assertThat(output).contains(LockBackendException.class.getName() + ": ")
			.doesNotContain("SingleJob.run did not run")
			.doesNotContain(NoSuchElementException.class.getName());
	}

	private static void await(String what, java.util.concurrent.Callable<Boolean> condition) {
		Awaitility.await(what).atMost(Patience.PATIENCE).until(condition);
	}

	private static long missedRuns(String job, CapturedOutput output) {
		return output.getAll()
			.lines()
			.filter((line) -> line.contains("ERROR")
					&& line.contains("Scheduled method " + job + ".run did not run: Redis "))
			.count();
	}

	@EnableScheduling
	static class SchedulingConfiguration {

		@Bean
		ThreadPoolTaskScheduler taskScheduler() {
			ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
			scheduler.setPoolSize(2);
			return scheduler;
		}

	}

	static class Schedule extends SchedulingConfiguration {

		private final AtomicInteger failures = new AtomicInteger();

		@Bean
		Caller caller(Job job) {
			return new Caller(job, this.failures);
		}

	}

	abstract static class Job {

		private final CountDownLatch ran = new CountDownLatch(1);

		// Beans have a proxy, whose fields are empty.
		CountDownLatch ran() {
			return this.ran;
		}

	}

	static class BlockingJob extends Job {

		@Scheduled(fixedDelay = 20)
		@DistributedLock(key = "'job'", ifBusy = IfBusy.SKIP)
		public void run() {
			ran().countDown();
		}

	}

	static class ReactiveJob extends Job {

		@Scheduled(fixedDelay = 20)
		@DistributedLock(key = "'job'", ifBusy = IfBusy.SKIP)
		public Mono<Void> run() {
			return Mono.fromRunnable(ran()::countDown);
		}

	}

	static class SingleJob {

		@Scheduled(fixedDelay = 20)
		@DistributedLock(key = "'job'")
		public Single<String> run() {
			return Single.just("done");
		}

	}

	/**
	 * Is scheduled, too, and calls an annotated method.
	 */
	record Caller(Job job, AtomicInteger failures) {

		@Scheduled(fixedDelay = 20)
		void call() {
			try {
				if (this.job instanceof ReactiveJob reactive) {
					reactive.run().block(Patience.PATIENCE);
				}
				else {
					((BlockingJob) this.job).run();
				}
			}
			catch (LockBackendException ex) {
				this.failures.incrementAndGet();
			}
		}

	}

}
