package io.github.distributedlock.aop;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.backend.redis.RedisLockSettings;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import io.lettuce.core.KeyValue;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Stages that an event loop of Lettuce completes, as in an application that asks Redis
 * asynchronously. The connections of the locks are served by the same event loops.
 */
class EventLoopTests {

	/**
	 * More than there are event loops, so that each of them completes one.
	 */
	private static final int CALLS = 6;

	@Test
	void releaseDoesNotWaitOnTheThreadThatReadsItsAnswer() {
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED); Jedis admin = server.admin()) {
			Locks.server = server;
			try (AdvisorContext context = AdvisorContext.of(Service.class, Locks.class)) {
				Locks locks = context.get(Locks.class);
				for (int call = 0; call < CALLS; call++) {
					RedisAsyncCommands<String, String> connection = locks.client.connect().async();
					CompletableFuture<String> result = context.get(Service.class)
						.run(() -> connection.blpop(0, "queue").thenApply(KeyValue::getValue).toCompletableFuture());
					admin.rpush("queue", "done " + call);
					assertThat(result).succeedsWithin(Patience.PATIENCE).isEqualTo("done " + call);
					assertThat(admin.exists("lock:{k}")).as("after call %s", call).isFalse();
				}
				assertThat(locks.deferred).as("releases without an answer").isEmpty();
			}
		}
	}

	static class Service {

		@DistributedLock(key = "'k'")
		public CompletableFuture<String> run(Supplier<CompletableFuture<String>> action) {
			return action.get();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Locks {

		private static RedisServers.Server server;

		private final List<LockEvent> deferred = new CopyOnWriteArrayList<>();

		private final ClientResources resources = DefaultClientResources.builder()
			.ioThreadPoolSize(2)
			.computationThreadPoolSize(2)
			.build();

		private final RedisClient client = RedisClient.create(this.resources,
				RedisURI.create(server.host(), server.port()));

		// Defined first, so that the context destroys this bean last.
		@Bean(destroyMethod = "run")
		Runnable end() {
			return () -> {
				this.client.shutdown(0, 10, TimeUnit.SECONDS);
				this.resources.shutdown(0, 10, TimeUnit.SECONDS).awaitUninterruptibly();
			};
		}

		@Bean
		RedisLockBackend backend() {
			return new RedisLockBackend(
					new LettuceConnectionFactory(new RedisStandaloneConfiguration(server.host(), server.port()),
							LettuceClientConfiguration.builder().clientResources(this.resources).build()),
					RedisLockSettings.defaults().commandTimeout(Patience.COMMAND));
		}

		@Bean
		@Primary
		LockEngine engine(RedisLockBackend backend) {
			return LockEngine.builder(backend).listener((event) -> {
				if (event instanceof LockEvent.ReleaseDeferred) {
					this.deferred.add(event);
				}
			}).build();
		}

	}

}
