package io.github.distributedlock.backend.redis;

import io.github.distributedlock.test.RedisCluster;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
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

		@Override
		RedisConnectionFactory to(RedisClusterConfiguration cluster) {
			return new JedisConnectionFactory(cluster);
		}

	},

	LETTUCE {

		@Override
		RedisConnectionFactory to(RedisStandaloneConfiguration server) {
			return new LettuceConnectionFactory(server);
		}

		@Override
		RedisConnectionFactory to(RedisClusterConfiguration cluster) {
			return new LettuceConnectionFactory(cluster);
		}

	};

	abstract RedisConnectionFactory to(RedisStandaloneConfiguration server);

	abstract RedisConnectionFactory to(RedisClusterConfiguration cluster);

	RedisConnectionFactory to(int port) {
		return to(new RedisStandaloneConfiguration("localhost", port));
	}

	RedisConnectionFactory to(RedisCluster cluster) {
		return to(new RedisClusterConfiguration(cluster.masters().stream().map(Object::toString).toList()));
	}

}
