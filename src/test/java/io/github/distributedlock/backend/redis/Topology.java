package io.github.distributedlock.backend.redis;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.fixtures.Access;
import io.github.distributedlock.fixtures.RedisReplicas;
import io.github.distributedlock.fixtures.RedisSentinels;
import io.github.distributedlock.fixtures.RedisServers.Server;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

/**
 * The topologies of servers that an application may be configured with.
 */
enum Topology {

	/** The master, which has a replica. */
	STANDALONE {

		@Override
		RedisConfiguration of(GuardedServers servers) {
			Server master = servers.sentinels().servers().master();
			RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration(master.host(), master.port());
			configuration.setDatabase(DATABASE);
			login(configuration, servers.access());
			return configuration;
		}

	},

	SENTINEL {

		@Override
		RedisConfiguration of(GuardedServers servers) {
			Set<String> addresses = servers.sentinels()
				.sentinels()
				.stream()
				.map(Object::toString)
				.collect(Collectors.toSet());
			RedisSentinelConfiguration configuration = new RedisSentinelConfiguration(RedisSentinels.MASTER, addresses);
			configuration.setDatabase(DATABASE);
			login(configuration, servers.access());
			configuration.setSentinelUsername(servers.sentinelAccess().user());
			configuration.setSentinelPassword(servers.sentinelAccess().password());
			return configuration;
		}

	},

	/** One node of the cluster. */
	CLUSTER {

		@Override
		RedisConfiguration of(GuardedServers servers) {
			RedisClusterConfiguration configuration = new RedisClusterConfiguration(
					List.of(servers.cluster().masters().get(0).toString()));
			login(configuration, servers.access());
			return configuration;
		}

		@Override
		List<Server> nodes(GuardedServers servers) {
			return servers.cluster().nodes();
		}

		@Override
		Server masterOf(GuardedServers servers, String redisKey) {
			return servers.cluster().masterOf(redisKey);
		}

		@Override
		int database() {
			return 0;
		}

	};

	private static final int DATABASE = 3;

	private static void login(RedisConfiguration.WithAuthentication configuration, Access access) {
		configuration.setUsername(access.user());
		configuration.setPassword(access.password());
	}

	/**
	 * Tells an application of servers, as it may get in.
	 * @param servers the servers
	 * @return the configuration
	 */
	abstract RedisConfiguration of(GuardedServers servers);

	List<Server> nodes(GuardedServers servers) {
		RedisReplicas all = servers.sentinels().servers();
		return Stream.concat(Stream.of(all.master()), all.replicas().stream()).toList();
	}

	Server masterOf(GuardedServers servers, String redisKey) {
		return servers.sentinels().servers().master();
	}

	int database() {
		return DATABASE;
	}

}
