package io.github.distributedlock.backend.redis;

import io.github.distributedlock.fixtures.Access;
import io.github.distributedlock.fixtures.Lazy;
import io.github.distributedlock.fixtures.RedisCluster;
import io.github.distributedlock.fixtures.RedisSentinels;
import io.github.distributedlock.fixtures.RedisServers;

/**
 * Servers that let an application in as one user only: a master with a replica under
 * Sentinels, and a cluster of three masters with a replica each. Both are started when
 * they are first asked for.
 */
final class GuardedServers implements AutoCloseable {

	private final Access access;

	private final Lazy<RedisSentinels> sentinels;

	private final Lazy<RedisCluster> cluster;

	/**
	 * Prepares them.
	 * @param name one of {@link RedisServers#names()}
	 * @param access as whom to get into masters and replicas
	 */
	GuardedServers(String name, Access access) {
		this.access = access;
		this.sentinels = new Lazy<>(() -> RedisSentinels.start(name, access, sentinelAccess(), 1),
				RedisSentinels::close);
		this.cluster = new Lazy<>(() -> RedisCluster.start(name, access, 3, 1), RedisCluster::close);
	}

	Access access() {
		return this.access;
	}

	/**
	 * Returns the access to the Sentinels, which have another user.
	 * @return the access
	 */
	Access sentinelAccess() {
		return new Access("watcher", "not-" + this.access.password(), this.access.certificate());
	}

	RedisSentinels sentinels() {
		return this.sentinels.get();
	}

	RedisCluster cluster() {
		return this.cluster.get();
	}

	@Override
	public void close() {
		this.sentinels.end();
		this.cluster.end();
	}

}
