package io.github.distributedlock.faults;

import java.util.function.Supplier;

import io.github.distributedlock.backend.redis.RedisLockSettings;
import io.github.distributedlock.fixtures.Access;
import io.github.distributedlock.fixtures.RedisCluster;
import io.github.distributedlock.fixtures.RedisSentinels;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.RedisServers.Server;
import io.github.distributedlock.fixtures.Variant;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

/**
 * The Redis of a trial.
 *
 * @param configuration how an application reaches this Redis
 * @param settings how locks are kept there
 * @param master the server that has the locks, which may become another one
 * @param failOver asks for another master
 * @param end ends this Redis
 */
record Deployment(RedisConfiguration configuration, RedisLockSettings settings, Supplier<Server> master,
		Runnable failOver, Runnable end) {

	private static final Runnable IMPOSSIBLE = () -> {
		throw new UnsupportedOperationException("there is but one server");
	};

	/**
	 * One server.
	 * @param settings of the server
	 */
	static Deployment standalone(String... settings) {
		return of(RedisServers.start(Variant.SERVER, settings));
	}

	/**
	 * One server that is special.
	 * @param server the server, which ends with the deployment
	 */
	static Deployment of(Server server) {
		return new Deployment(new RedisStandaloneConfiguration(server.host(), server.port()), Trial.SETTINGS,
				() -> server, IMPOSSIBLE, server::close);
	}

	/**
	 * The same, but a lock counts only when replicas have it.
	 * @param replicas how many of them
	 */
	Deployment acknowledgedBy(int replicas) {
		return new Deployment(this.configuration,
				this.settings.replicasToAck(replicas, Trial.COMMAND_TIMEOUT.dividedBy(2)), this.master, this.failOver,
				this.end);
	}

	/**
	 * A master with replicas under three Sentinels.
	 * @param replicas how many replicas
	 * @param settings of the master and its replicas
	 */
	static Deployment sentinels(int replicas, String... settings) {
		RedisSentinels sentinels = RedisSentinels.start(Variant.SERVER, replicas, settings);
		RedisSentinelConfiguration configuration = new RedisSentinelConfiguration().master(RedisSentinels.MASTER);
		sentinels.sentinels().forEach((sentinel) -> configuration.sentinel("localhost", sentinel.port()));
		return new Deployment(configuration, Trial.SETTINGS, sentinels::master, sentinels::failOver, sentinels::close);
	}

	/**
	 * A cluster of one master, which has a replica.
	 */
	static Deployment cluster() {
		RedisCluster cluster = RedisCluster.start(Variant.SERVER, Access.OPEN, 1, 1);
		RedisClusterConfiguration configuration = new RedisClusterConfiguration(
				cluster.nodes().stream().map(Object::toString).toList());
		return new Deployment(configuration, Trial.SETTINGS, () -> masterOf(cluster), () -> {
			// A failover that takes longer than the server's 5 s is given up.
			RedisCluster.takeOver(cluster.replicaOf(masterOf(cluster)));
		}, cluster::close);
	}

	private static Server masterOf(RedisCluster cluster) {
		return cluster.nodes().stream().filter((node) -> {
			try (Jedis admin = node.admin()) {
				return admin.role().get(0).equals("master");
			}
		}).findFirst().orElseThrow();
	}

}
