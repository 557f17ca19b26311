package io.github.distributedlock.backend.redis;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * What an application has: a connection factory, never started here, since nothing of it
 * but its settings may be used.
 */
enum Factories {

	JEDIS {

		@Override
		RedisConnectionFactory to(RedisStandaloneConfiguration server) {
			return new JedisConnectionFactory(server);
		}

	},

	LETTUCE {

		@Override
		RedisConnectionFactory to(RedisStandaloneConfiguration server) {
			return new LettuceConnectionFactory(server);
		}

	};

	abstract RedisConnectionFactory to(RedisStandaloneConfiguration server);

	RedisConnectionFactory to(int port) {
		return to(new RedisStandaloneConfiguration("localhost", port));
	}

}
