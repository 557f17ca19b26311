package io.github.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.annotation.IfBusy;
import io.github.distributedlock.fixtures.RedisServers;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
	@ValueSource(strings = { "jedis", "lettuce" })
	void eachMissedRunIsALine(String client, CapturedOutput output) {
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED)) {
			server.stop();
			Contexts.withRedis()
				.withPropertyValues("spring.data.redis.port=" + server.port(),
						"spring.data.redis.client-type=" + client)
				.withUserConfiguration(Schedule.class)
				.run((context) -> {
					await("three missed runs", () -> missedRuns(output) >= 3);
					// Whoever else calls the method is thrown the exception.
					await("the caller's exception", () -> context.getBean(Schedule.class).failures.get() > 0);
					server.start();
					assertThat(context.getBean(Schedule.class).ran.await(1, TimeUnit.MINUTES)).as("the job ran")
						.isTrue();
				});
		}
		assertThat(output).doesNotContain("\tat ").doesNotContain("Unexpected error occurred in scheduled task");
		assertThat(output).containsOnlyOnce("The lock of scheduled method Job.run can be asked for again, after ");
	}

	private static void await(String what, java.util.concurrent.Callable<Boolean> condition) {
		Awaitility.await(what).atMost(Duration.ofMinutes(1)).until(condition);
	}

	private static long missedRuns(CapturedOutput output) {
		return output.getAll()
			.lines()
			.filter((line) -> line.contains("ERROR") && line.contains("Scheduled method Job.run did not run: Redis "))
			.count();
	}

	@EnableScheduling
	static class Schedule {

		private final AtomicInteger failures = new AtomicInteger();

		private final CountDownLatch ran = new CountDownLatch(1);

		@Bean
		Job job() {
			return new Job(this.ran);
		}

		@Bean
		Caller caller(Job job) {
			return new Caller(job, this.failures);
		}

		@Bean
		ThreadPoolTaskScheduler taskScheduler() {
			ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
			scheduler.setPoolSize(2);
			return scheduler;
		}

	}

	static class Job {

		private final CountDownLatch ran;

		Job(CountDownLatch ran) {
			this.ran = ran;
		}

		@Scheduled(fixedDelay = 20)
		@DistributedLock(key = "'job'", ifBusy = IfBusy.SKIP)
		public void run() {
			this.ran.countDown();
		}

	}

	/**
	 * Is scheduled, too, and calls an annotated method.
	 */
	record Caller(Job job, AtomicInteger failures) {

		@Scheduled(fixedDelay = 20)
		void call() {
			try {
				this.job.run();
			}
			catch (LockBackendException ex) {
				this.failures.incrementAndGet();
			}
		}

	}

}
