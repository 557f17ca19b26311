package io.github.distributedlock.test;

import java.time.Duration;

import io.github.distributedlock.backend.redis.RedisLockBackend;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The clients that a JVM may reach Redis with.
 */
public enum Client {

	/** Jedis. */
	JEDIS {

		@Override
		public RedisConnectionFactory connectTo(RedisStandaloneConfiguration server) {
			return new JedisConnectionFactory(server);
		}

	},

	/** Lettuce. */
	LETTUCE {

		@Override
		public RedisConnectionFactory connectTo(RedisStandaloneConfiguration server) {
			return new LettuceConnectionFactory(server);
		}

	};

	/**
	 * On a busy machine no command is to fail that would have been answered.
	 */
	private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(10);

	/**
	 * What an application has: a connection factory, never started here, since nothing of
	 * it but its settings may be used.
	 * @param server the server
	 * @return the factory
	 */
	public abstract RedisConnectionFactory connectTo(RedisStandaloneConfiguration server);

	/**
	 * Locks in a Redis of this machine, for tests in which no command is to time out.
	 * @param port the server's port
	 * @return the backend, to be closed
	 */
	public RedisLockBackend backend(int port) {
		return backend(port, COMMAND_TIMEOUT);
	}

	/**
	 * Locks in a Redis of this machine.
	 * @param port the server's port
	 * @param commandTimeout how long a command may take
	 * @return the backend, to be closed
	 */
	public RedisLockBackend backend(int port, Duration commandTimeout) {
		return backend("localhost", port, commandTimeout);
	}

	/**
	 * Locks in a Redis.
	 * @param host the server's address
	 * @param port the server's port
	 * @param commandTimeout how long a command may take
	 * @return the backend, to be closed
	 */
	public RedisLockBackend backend(String host, int port, Duration commandTimeout) {
		return new RedisLockBackend(connectTo(new RedisStandaloneConfiguration(host, port)),
				RedisLockBackend.DEFAULT_PREFIX, commandTimeout);
	}

}
