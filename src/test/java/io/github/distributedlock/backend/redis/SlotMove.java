package io.github.distributedlock.backend.redis;

import io.github.distributedlock.fixtures.RedisCluster;
import io.github.distributedlock.fixtures.RedisServers.Server;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisAskDataException;
import redis.clients.jedis.params.MigrateParams;

/**
 * The move of one slot from one master to another, as slow as a test likes. In the end
 * the slot is where it began.
 */
final class SlotMove implements AutoCloseable {

	private static final int TIMEOUT_MILLIS = 5_000;

	private final Server targetServer;

	private final Jedis source;

	private final Jedis target;

	private final int slot;

	/**
	 * Prepares to move a slot.
	 * @param cluster the cluster
	 * @param redisKey a key of the slot
	 */
	SlotMove(RedisCluster cluster, String redisKey) {
		Server from = cluster.masterOf(redisKey);
		this.targetServer = cluster.masters().stream().filter((master) -> master != from).findAny().orElseThrow();
		this.source = from.admin();
		this.target = this.targetServer.admin();
		this.slot = RedisCluster.slotOf(redisKey);
	}

	/**
	 * From now on keys may be at either master. New ones come to the second.
	 */
	void begin() {
		this.target.clusterSetSlotImporting(this.slot, this.source.clusterMyId());
		this.source.clusterSetSlotMigrating(this.slot, this.target.clusterMyId());
	}

	/**
	 * Carries keys to the second master.
	 * @param redisKeys the keys
	 */
	void carry(String... redisKeys) {
		this.source.migrate(this.targetServer.host(), this.targetServer.port(), TIMEOUT_MILLIS, new MigrateParams(),
				redisKeys);
	}

	/**
	 * Carries the rest, and says that the slot has moved.
	 */
	void end() {
		for (String key : this.source.clusterGetKeysInSlot(this.slot, Integer.MAX_VALUE)) {
			carry(key);
		}
		belongsTo(this.target);
	}

	/**
	 * Returns for how long a key will stay, wherever it is.
	 * @param redisKey the key
	 * @return the milliseconds
	 */
	long millisLeft(String redisKey) {
		try {
			return this.source.pttl(redisKey);
		}
		catch (JedisAskDataException ex) {
			this.target.asking();
			return this.target.pttl(redisKey);
		}
	}

	/**
	 * Returns whether there is a key, before the slot begins to move.
	 * @param redisKey the key
	 * @return whether the key exists
	 */
	boolean exists(String redisKey) {
		return this.source.exists(redisKey);
	}

	private void belongsTo(Jedis master) {
		String id = master.clusterMyId();
		this.target.clusterSetSlotNode(this.slot, id);
		this.source.clusterSetSlotNode(this.slot, id);
	}

	@Override
	public void close() {
		for (String key : this.target.clusterGetKeysInSlot(this.slot, Integer.MAX_VALUE)) {
			this.target.asking();
			this.target.del(key);
		}
		belongsTo(this.source);
		this.source.close();
		this.target.close();
	}

}
