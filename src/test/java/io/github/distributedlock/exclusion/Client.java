package io.github.distributedlock.exclusion;

import java.time.Duration;

import io.github.distributedlock.backend.redis.RedisLockBackend;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The clients that a JVM may reach Redis with.
 */
enum Client {

	JEDIS {

		@Override
		RedisConnectionFactory connectTo(RedisStandaloneConfiguration server) {
			return new JedisConnectionFactory(server);
		}

	},

	LETTUCE {

		@Override
		RedisConnectionFactory connectTo(RedisStandaloneConfiguration server) {
			return new LettuceConnectionFactory(server);
		}

	};

	/**
	 * On a busy machine no command is to fail that would have been answered.
	 */
	private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(10);

	abstract RedisConnectionFactory connectTo(RedisStandaloneConfiguration server);

	/**
	 * Locks in the Redis of this machine.
	 */
	RedisLockBackend backend(int port) {
		return new RedisLockBackend(connectTo(new RedisStandaloneConfiguration("localhost", port)),
				RedisLockBackend.DEFAULT_PREFIX, COMMAND_TIMEOUT);
	}

}
