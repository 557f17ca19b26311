package io.github.distributedlock.backend.redis.internal;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.backend.redis.internal.Command.Verb;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TestRedis;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.DefaultEventLoopGroupProvider;
import io.lettuce.core.resource.EventLoopGroupProvider;
import io.netty.channel.EventLoopGroup;
import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import io.netty.util.TimerTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

class LettuceClientTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	@Test
	void aCommandSetsNoTimer() {
		CountingTimer timer = new CountingTimer();
		ClientResources resources = DefaultClientResources.builder().timer(timer).build();
		OwnConnections connections = RedisClients.derive(
				application(new RedisStandaloneConfiguration("localhost", redis.port()), resources), Patience.COMMAND);
		Command command = Command.of(Verb.GET, "a".getBytes(StandardCharsets.UTF_8));
		connections.shared().commands().run((link) -> link.call(command)); // Connects.
		timer.set.set(0);
		for (int i = 0; i < 10; i++) {
			connections.shared().commands().run((link) -> link.call(command));
		}
		assertThat(timer.set).hasValue(0);
		connections.close();
		Patience.get(resources.shutdown(), "the end of the client's threads");
		timer.stop();
	}

	@Test
	void theCredentialsOfAClusterAreAskedForByItsConfiguration() {
		List<RedisConfiguration> asked = new CopyOnWriteArrayList<>();
		RedisClusterConfiguration cluster = new RedisClusterConfiguration(List.of("localhost:" + redis.port()));
		OwnConnections connections = RedisClients
			.derive(new LettuceConnectionFactory(cluster, LettuceClientConfiguration.builder()
				.redisCredentialsProviderFactory(new RedisCredentialsProviderFactory() {

					@Override
					public RedisCredentialsProvider createCredentialsProvider(RedisConfiguration configuration) {
						asked.add(configuration);
						return RedisCredentialsProviderFactory.super.createCredentialsProvider(configuration);
					}

				})
				.build()), Patience.COMMAND);
		assertThatException().isThrownBy(() -> connections.shared().commands().run((link) -> null))
			.withStackTraceContaining("cluster support disabled");
		assertThat(asked).isNotEmpty().containsOnly(cluster);
		connections.close();
	}

	@Test
	void theApplicationsBoundOfCommandsThatWaitIsNotThatOfLocks() {
		int most = 10;
		OwnConnections connections = RedisClients
			.derive(new LettuceConnectionFactory(new RedisStandaloneConfiguration("localhost", redis.port()),
					LettuceClientConfiguration.builder()
						.clientOptions(ClientOptions.builder().requestQueueSize(most).build())
						.build()),
					Patience.COMMAND);
		Command commands = Command.of(Verb.GET, "none".getBytes(StandardCharsets.UTF_8));
		for (int i = 0; i < most; i++) {
			commands = Command.of(Verb.GET, "none".getBytes(StandardCharsets.UTF_8)).with(commands);
		}
		Command all = commands;
		byte[] value = connections.shared().commands().run((link) -> link.bytes(all));
		assertThat(value).isNull();
		connections.close();
	}

	@Test
	void thereIsOneClientHoweverOftenThePasswordIsChanged() {
		RedisStandaloneConfiguration server = new RedisStandaloneConfiguration("localhost", redis.port());
		server.setUsername("shop");
		AtomicInteger clients = new AtomicInteger();
		EventLoopGroupProvider threads = new DefaultEventLoopGroupProvider(1) {

			@Override
			public <T extends EventLoopGroup> T allocate(Class<T> type) {
				clients.incrementAndGet();
				return super.allocate(type);
			}

		};
		ClientResources resources = DefaultClientResources.builder().eventLoopGroupProvider(threads).build();
		OwnConnections connections = RedisClients.derive(application(server, resources), Patience.COMMAND);
		for (String password : List.of("first", "second", "third")) {
			redis.admin().aclSetUser("shop", "on", "resetpass", ">" + password, "+@all", "~*", "&*");
			server.setPassword(password);
			connections.signals().open().close();
		}
		assertThat(clients).hasValue(1);
		connections.close();
		Patience.get(resources.shutdown(), "the end of the client's threads");
		Patience.get(threads.shutdown(0, 0, TimeUnit.SECONDS), "the end of the client's event loops");
	}

	private static LettuceConnectionFactory application(RedisStandaloneConfiguration server,
			ClientResources resources) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(server,
				LettuceClientConfiguration.builder().clientResources(resources).build());
		factory.afterPropertiesSet();
		return factory;
	}

	private static final class CountingTimer extends HashedWheelTimer {

		private final AtomicInteger set = new AtomicInteger();

		@Override
		public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
			this.set.incrementAndGet();
			return super.newTimeout(task, delay, unit);
		}

	}

}
