package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPool;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.JedisCluster;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisRedirectionException;
import redis.clients.jedis.providers.ClusterConnectionProvider;
import redis.clients.jedis.util.JedisClusterCRC16;

import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.dao.DataAccessException;

/**
 * Jedis' client of a cluster, which has a pool of connections to each node, and follows
 * redirections.
 * <p>
 * Jedis takes a lost connection for one more reason to try again. It stops to try after
 * half a command timeout, so a command that got no answer in time is never sent again.
 * <p>
 * States: not open; open, once a node has said where the slots are; closed.
 */
@SuppressWarnings("deprecation") // What replaces JedisCluster exists since Jedis 7.
final class JedisClusterLane implements Lane, Masters, SignalLine {

	private static final Logger logger = LoggerFactory.getLogger(JedisClusterLane.class);

	private static final int ATTEMPTS = 5;

	private final Set<HostAndPort> seeds;

	private final JedisClientConfig settings;

	private final GenericObjectPoolConfig<Connection> pool;

	private final Duration timeout;

	private final Opening<ClusterLink> opening;

	private volatile @Nullable ClusterLink open;

	private boolean closed;

	JedisClusterLane(Set<HostAndPort> seeds, JedisClientConfig settings, GenericObjectPoolConfig<Connection> pool,
			Duration timeout) {
		this.seeds = seeds;
		this.settings = settings;
		this.pool = pool;
		this.timeout = timeout;
		this.opening = new Opening<>(this::make, timeout);
	}

	@Override
	public <T> @Nullable T run(Step<T> step) {
		ClusterLink open = this.open;
		return step.on((open != null) ? open : this.opening.await());
	}

	private synchronized ClusterLink make() {
		ClusterLink open = this.open;
		if (this.closed) {
			throw new IllegalStateException("the lock backend is closed");
		}
		if (open == null) {
			try {
				Nodes nodes = new Nodes();
				open = new ClusterLink(nodes, new JedisCluster(nodes, ATTEMPTS, this.timeout.dividedBy(2)));
				this.open = open;
			}
			catch (JedisException ex) {
				throw JedisLink.translated(ex);
			}
		}
		return open;
	}

	@Override
	public SignalConnection open() {
		ClusterLink cluster = make();
		try {
			return new JedisClient.Connected(cluster.nodes.getConnection(), cluster);
		}
		catch (JedisException ex) {
			throw JedisLink.translated(ex);
		}
	}

	@Override
	public @Nullable Object of(int slot) {
		ClusterLink open = this.open;
		return (open != null) ? open.nodes.getNode(slot) : null;
	}

	@Override
	public synchronized void close() {
		this.closed = true;
		ClusterLink open = this.open;
		if (open != null) {
			open.cluster.close();
		}
	}

	/**
	 * Sends commands to the nodes.
	 */
	private record ClusterLink(Nodes nodes, JedisCluster cluster) implements Link {

		@Override
		public @Nullable Object call(Command command) {
			try {
				return this.cluster.sendCommand(command.key(), JedisLink.command(command.verb()), command.arguments());
			}
			catch (RuntimeException ex) {
				throw JedisLink.translated(ex);
			}
		}

		// Its own pipeline starts a thread for each node.
		@Override
		public List<@Nullable Object> call(List<Command> commands) {
			int slot = JedisClusterCRC16.getSlot(commands.get(0).key());
			try (Connection node = this.nodes.getConnectionFromSlot(slot)) {
				List<@Nullable Object> replies = new JedisLink(node, this.nodes.timeout(), () -> true).call(commands);
				for (int i = 0; i < replies.size(); i++) {
					if (replies.get(i) instanceof RuntimeException error
							&& error.getCause() instanceof JedisRedirectionException) {
						replies.set(i, replyOrError(commands.get(i)));
					}
				}
				return replies;
			}
			catch (JedisException ex) {
				throw JedisLink.translated(ex);
			}
		}

		private @Nullable Object replyOrError(Command command) {
			try {
				return call(command);
			}
			catch (DataAccessException ex) {
				if (!ex.contains(JedisDataException.class)) {
					throw ex;
				}
				return ex;
			}
		}

		@Override
		public boolean isCluster() {
			return true;
		}

	}

	/**
	 * The nodes, and a pool of connections to each, for Jedis to send commands by.
	 * <p>
	 * A node that does not answer costs its callers one command timeout, and callers of
	 * other nodes nothing. What Jedis would do about it on the caller's thread is done in
	 * the background, as each of it may cost another: a broken connection is given back,
	 * in whose place the pool makes a new one; the idle ones of its node are closed,
	 * being as dead after a restart; and the cluster is asked where its slots are now, at
	 * most once each command timeout.
	 */
	private final class Nodes extends ClusterConnectionProvider {

		private final Map<HostAndPort, ConnectionPool> pools = new ConcurrentHashMap<>();

		private final SimpleAsyncTaskExecutor background = new SimpleAsyncTaskExecutor("distributed-lock-cluster-");

		private final AtomicLong askedAt = new AtomicLong(System.nanoTime() - timeout().toNanos());

		private Nodes() {
			super(JedisClusterLane.this.seeds, JedisClusterLane.this.settings);
			this.background.setDaemon(true);
		}

		private Duration timeout() {
			return JedisClusterLane.this.timeout;
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
			if (now - last >= timeout().toNanos() && this.askedAt.compareAndSet(last, now)) {
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
				super(node, JedisClusterLane.this.settings, JedisClusterLane.this.pool);
			}

			@Override
			public void returnBrokenResource(Connection broken) {
				renewSlotCache();
				Nodes.this.background.execute(() -> {
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

}
