package io.github.distributedlock.backend.redis;

import java.util.Set;
import java.util.stream.Collectors;

import io.github.distributedlock.fixtures.RedisCluster;
import io.github.distributedlock.fixtures.RedisSentinels;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
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

		@Override
		RedisConnectionFactory to(RedisSentinelConfiguration sentinels) {
			return new JedisConnectionFactory(sentinels);
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

		@Override
		RedisConnectionFactory to(RedisSentinelConfiguration sentinels) {
			return new LettuceConnectionFactory(sentinels);
		}

	};

	abstract RedisConnectionFactory to(RedisStandaloneConfiguration server);

	abstract RedisConnectionFactory to(RedisClusterConfiguration cluster);

	abstract RedisConnectionFactory to(RedisSentinelConfiguration sentinels);

	RedisConnectionFactory to(int port) {
		return to(new RedisStandaloneConfiguration("localhost", port));
	}

	RedisConnectionFactory to(RedisSentinels sentinels) {
		Set<String> addresses = sentinels.sentinels().stream().map(Object::toString).collect(Collectors.toSet());
		return to(new RedisSentinelConfiguration(RedisSentinels.MASTER, addresses));
	}

	RedisConnectionFactory to(RedisCluster cluster) {
		return to(new RedisClusterConfiguration(cluster.masters().stream().map(Object::toString).toList()));
	}

}
