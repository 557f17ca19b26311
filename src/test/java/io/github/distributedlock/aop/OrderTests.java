package io.github.distributedlock.aop;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskExecutor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The lock among Spring's own advice on the same method.
 */
class OrderTests {

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void outsideTheTransactionAndTheCacheAndInsideAsync(boolean classProxy) {
		try (AdvisorContext context = start(classProxy)) {
			Work work = context.get(Work.class);
			List<String> events = context.lock().events;
			work.transactional();
			assertThat(events).containsExactly("acquire", "begin", "run", "commit", "release");
			events.clear();
			assertThat(work.cached()).isEqualTo("value");
			assertThat(work.cached()).isEqualTo("value");
			assertThat(events).as("looks again").containsExactly("acquire", "run", "release", "acquire", "release");
			events.clear();
			assertThat(Patience.get(work.async(), "the task")).isEqualTo("locked on async-1");
			assertThat(events).containsExactly("acquire", "run", "release");
		}
	}

	private AdvisorContext start(boolean classProxy) {
		return (classProxy ? new AdvisorContext() : new AdvisorContext().interfaceProxies()).start(Advised.class);
	}

	interface Work {

		void transactional();

		String cached();

		CompletableFuture<String> async();

	}

	static class Service implements Work {

		private final List<String> events;

		Service(List<String> events) {
			this.events = events;
		}

		@Override
		@DistributedLock
		@Transactional
		public void transactional() {
			this.events.add("run");
		}

		@Override
		@DistributedLock
		@Cacheable("values")
		public String cached() {
			this.events.add("run");
			return "value";
		}

		@Override
		@DistributedLock
		@Async
		public CompletableFuture<String> async() {
			this.events.add("run");
			return CompletableFuture.completedFuture((LockHandle.current().isPresent() ? "locked" : "unlocked") + " on "
					+ Thread.currentThread().getName());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	@EnableCaching
	@EnableTransactionManagement
	static class Advised {

		@Bean
		Service service(RecordingLock lock) {
			return new Service(lock.events);
		}

		@Bean
		TaskExecutor taskExecutor() {
			return new SimpleAsyncTaskExecutor("async-");
		}

		@Bean
		CacheManager cacheManager() {
			return new ConcurrentMapCacheManager();
		}

		@Bean
		PlatformTransactionManager transactionManager(RecordingLock lock) {
			return new RecordingTransactionManager(lock.events);
		}

	}

}
