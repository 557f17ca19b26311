package io.github.distributedlock.test;

import java.util.Optional;

import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.backend.redis.RedisLockSettings;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ReadFrom;
import io.lettuce.core.SslOptions;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The clients that a JVM may reach Redis with.
 */
public enum Client {

	/** Jedis. */
	JEDIS {

		@Override
		public RedisConnectionFactory connectTo(RedisConfiguration servers, String name, Optional<SelfSigned> trusted) {
			var settings = JedisClientConfiguration.builder().clientName(name);
			trusted.ifPresent((certificate) -> settings.useSsl().sslSocketFactory(certificate.sockets()));
			return connectTo(servers, settings.build());
		}

		@Override
		public RedisConnectionFactory connectTo(RedisConfiguration servers) {
			return connectTo(servers, JedisClientConfiguration.defaultConfiguration());
		}

		private static JedisConnectionFactory connectTo(RedisConfiguration servers, JedisClientConfiguration settings) {
			if (servers instanceof RedisSentinelConfiguration sentinels) {
				return new JedisConnectionFactory(sentinels, settings);
			}
			if (servers instanceof RedisClusterConfiguration cluster) {
				return new JedisConnectionFactory(cluster, settings);
			}
			return new JedisConnectionFactory((RedisStandaloneConfiguration) servers, settings);
		}

	},

	/** Lettuce. */
	LETTUCE {

		@Override
		public RedisConnectionFactory connectTo(RedisConfiguration servers, String name, Optional<SelfSigned> trusted) {
			var settings = LettuceClientConfiguration.builder().clientName(name).readFrom(ReadFrom.REPLICA);
			trusted.ifPresent(
					(certificate) -> settings
						.clientOptions(ClientOptions.builder()
							.sslOptions(SslOptions.builder().trustManager(certificate.certificate().toFile()).build())
							.build())
						.useSsl());
			return new LettuceConnectionFactory(servers, settings.build());
		}

		@Override
		public RedisConnectionFactory connectTo(RedisConfiguration servers) {
			return new LettuceConnectionFactory(servers);
		}

	};

	/**
	 * /** What an application has: a connection factory, never started here, since
	 * nothing of it but its settings may be used.
	 * @param servers a server, Sentinels or a cluster
	 * @return the factory
	 */
	public abstract RedisConnectionFactory connectTo(RedisConfiguration servers);

	/**
	 * What an application has that names its connections, and reads from replicas if its
	 * client can.
	 * @param servers a server, Sentinels or a cluster
	 * @param name the name of its connections
	 * @param trusted the certificate that it trusts, if it speaks TLS
	 * @return the factory
	 */
	public abstract RedisConnectionFactory connectTo(RedisConfiguration servers, String name,
			Optional<SelfSigned> trusted);

	/**
	 * Locks in a Redis of this machine, for tests in which no command is to time out.
	 * @param port the server's port
	 * @return the backend, to be closed
	 */
	public RedisLockBackend backend(int port) {
		return backend(new RedisStandaloneConfiguration("localhost", port),
				RedisLockSettings.defaults().commandTimeout(Patience.COMMAND));
	}

	/**
	 * Locks in Redis.
	 * @param servers a server, Sentinels or a cluster
	 * @param settings how they are kept there
	 * @return the backend, to be closed
	 */
	public RedisLockBackend backend(RedisConfiguration servers, RedisLockSettings settings) {
		return new RedisLockBackend(connectTo(servers), settings);
	}

}
