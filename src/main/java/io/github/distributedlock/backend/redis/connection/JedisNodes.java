package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.providers.ClusterConnectionProvider;

import org.springframework.core.task.SimpleAsyncTaskExecutor;

/**
 * The nodes of a cluster, and a pool of connections to each, for Jedis to send commands
 * by.
 * <p>
 * A node that does not answer costs its callers one command timeout, and callers of other
 * nodes nothing. What Jedis would do about it on the caller's thread is done in the
 * background, as each of it may cost another: a broken connection is given back, in whose
 * place the pool makes a new one; the idle ones of its node are closed, being as dead
 * after a restart; and the cluster is asked where its slots are now, at most once each
 * command timeout.
 */
final class JedisNodes extends ClusterConnectionProvider {

	private static final Logger logger = LoggerFactory.getLogger(JedisNodes.class);

	private final Map<HostAndPort, ConnectionPool> pools = new ConcurrentHashMap<>();

	private final SimpleAsyncTaskExecutor background = new SimpleAsyncTaskExecutor("distributed-lock-cluster-");

	private final JedisClientConfig client;

	private final GenericObjectPoolConfig<Connection> pool;

	private final long pauseNanos;

	private final AtomicLong askedAt;

	JedisNodes(Set<HostAndPort> seeds, JedisClientConfig client, GenericObjectPoolConfig<Connection> pool,
			Duration timeout) {
		super(seeds, client);
		this.client = client;
		this.pool = pool;
		this.pauseNanos = timeout.toNanos();
		this.askedAt = new AtomicLong(System.nanoTime() - this.pauseNanos);
		this.background.setDaemon(true);
	}

	@Override
	public Connection getConnectionFromSlot(int slot) {
		HostAndPort node = getNode(slot);
		return (node != null) ? getConnection(node) : super.getConnectionFromSlot(slot);
	}

	@Override
	public Connection getConnection(HostAndPort node) {
		return this.pools.computeIfAbsent(node, NodePool::new).getResource();
	}

	@Override
	public void renewSlotCache() {
		long last = this.askedAt.get();
		long now = System.nanoTime();
		if (now - last >= this.pauseNanos && this.askedAt.compareAndSet(last, now)) {
			this.background.execute(() -> {
				super.renewSlotCache();
				Set<String> nodes = getNodes().keySet();
				this.pools.forEach((node, pool) -> {
					if (!nodes.contains(node.toString()) && this.pools.remove(node, pool)) {
						pool.close();
					}
				});
			});
		}
	}

	@Override
	public void close() {
		super.close();
		this.pools.values().forEach(ConnectionPool::close);
	}

	private final class NodePool extends ConnectionPool {

		private NodePool(HostAndPort node) {
			super(node, JedisNodes.this.client, JedisNodes.this.pool);
		}

		@Override
		public void returnBrokenResource(Connection broken) {
			renewSlotCache();
			JedisNodes.this.background.execute(() -> {
				clear();
				try {
					super.returnBrokenResource(broken);
				}
				catch (JedisException ex) {
					logger.debug("No other connection in its place", ex);
				}
			});
		}

	}

}
