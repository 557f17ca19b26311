package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.distributedlock.backend.redis.connection.Command.Verb;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisAskDataException;
import redis.clients.jedis.exceptions.JedisRedirectionException;
import redis.clients.jedis.providers.ClusterConnectionProvider;
import redis.clients.jedis.util.JedisClusterCRC16;

import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.RedisConnectionFailureException;

/**
 * The nodes of a cluster, each with Jedis connections of its own, so that one that stalls
 * costs no command for another. Jedis knows which node serves a slot. A command that a
 * node redirects goes to the one that it names, and is sent again for no other reason.
 * <p>
 * After a failure and after a redirection Jedis asks the cluster where the slots are now:
 * in the background, since each node may cost it a command timeout, and at most once in
 * that time.
 * <p>
 * States: not open; open, once a node has said where the slots are; closed.
 */
final class JedisClusterLane implements Lane, Link, SignalConnector {

	private static final int REDIRECTIONS = 5;

	private static final Command ASKING = Command.at(new byte[0], Verb.ASKING);

	private final SimpleAsyncTaskExecutor background = new SimpleAsyncTaskExecutor("distributed-lock-cluster-");

	private final Map<HostAndPort, PooledLane<JedisLink>> nodes = new ConcurrentHashMap<>();

	private final Function<HostAndPort, JedisLink> opener;

	private final int connections;

	private final Duration timeout;

	private final Supplier<ClusterConnectionProvider> discovery;

	private final Opening<ClusterConnectionProvider> opening;

	private final AtomicLong refreshedAt;

	private volatile @Nullable ClusterConnectionProvider slots;

	private volatile boolean closed;

	/**
	 * Creates it, not open.
	 * @param discovery asks the nodes where the slots are
	 * @param opener opens a connection to a node
	 * @param connections how many to each node
	 */
	JedisClusterLane(Supplier<ClusterConnectionProvider> discovery, Function<HostAndPort, JedisLink> opener,
			int connections, Duration timeout) {
		this.discovery = discovery;
		this.opener = opener;
		this.connections = connections;
		this.timeout = timeout;
		this.opening = new Opening<>(this::make, timeout);
		this.refreshedAt = new AtomicLong(System.nanoTime() - timeout.toNanos());
		this.background.setDaemon(true);
	}

	@Override
	public <T> @Nullable T run(Function<Link, @Nullable T> step) {
		if (this.slots == null) {
			Lane.withoutInterrupt(this.opening::await);
		}
		return step.apply(this);
	}

	private synchronized ClusterConnectionProvider make() {
		Lane.requireOpen(this.closed);
		ClusterConnectionProvider slots = this.slots;
		if (slots == null) {
			slots = JedisLink.translating(this.discovery);
			this.slots = slots;
		}
		return slots;
	}

	@Override
	public @Nullable Object exchange(Command command) {
		long begin = System.nanoTime();
		try {
			HostAndPort node = node(JedisClusterCRC16.getSlot(command.key()));
			Object reply = followed(command, on(node, command, false), begin);
			if (reply instanceof RuntimeException) { // Such as CLUSTERDOWN.
				refreshSlots();
			}
			return reply;
		}
		catch (DataAccessException ex) {
			refreshSlots();
			throw ex;
		}
	}

	// A slot that nobody serves is refused by any node, which says why.
	private HostAndPort node(int slot) {
		ClusterConnectionProvider slots = Objects.requireNonNull(this.slots);
		HostAndPort master = slots.getNode(slot);
		if (master != null) {
			return master;
		}
		refreshSlots();
		return slots.getNodes()
			.keySet()
			.stream()
			.findAny()
			.map(HostAndPort::from)
			.orElseThrow(() -> new UnsentException("no node of the cluster is known", null));
	}

	private @Nullable Object on(HostAndPort node, Command command, boolean asking) {
		PooledLane<JedisLink> lane = this.nodes.computeIfAbsent(node, this::lane);
		if (this.closed) {
			lane.close(); // It may have come too late to be closed with the others.
		}
		try {
			return lane.run((link) -> {
				if (asking) {
					link.exchange(ASKING);
				}
				return link.exchange(command);
			});
		}
		catch (IllegalStateException ex) { // Before a connection was had.
			Lane.requireOpen(this.closed);
			throw new UnsentException("there is no connection to " + node
					+ " any more, which the cluster does not name as one of its nodes", ex);
		}
	}

	private PooledLane<JedisLink> lane(HostAndPort node) {
		Lane.requireOpen(this.closed);
		return new PooledLane<>(() -> this.opener.apply(node), this.connections, this.timeout);
	}

	// As long as that leaves time for one more command.
	private @Nullable Object followed(Command command, @Nullable Object reply, long begin) {
		Object last = reply;
		for (int i = 0; i < REDIRECTIONS && System.nanoTime() - begin < this.timeout.toNanos() / 2; i++) {
			if (!(last instanceof RuntimeException error
					&& error.getCause() instanceof JedisRedirectionException redirection)) {
				return last;
			}
			boolean asks = redirection instanceof JedisAskDataException;
			// A node that a slot is moving to may have none yet, and is then not named.
			if (!asks) {
				refreshSlots();
			}
			try {
				last = on(redirection.getTargetNode(), command, asks);
			}
			catch (UnsentException ex) { // The commands before may have been carried out.
				throw new RedisConnectionFailureException(
						"the command was redirected to " + redirection.getTargetNode(), ex);
			}
		}
		return last;
	}

	private void refreshSlots() {
		long last = this.refreshedAt.get();
		long now = System.nanoTime();
		ClusterConnectionProvider slots = this.slots;
		if (slots != null && now - last >= this.timeout.toNanos() && this.refreshedAt.compareAndSet(last, now)) {
			try {
				this.background.execute(() -> refresh(slots));
			}
			catch (OutOfMemoryError noThread) {
				this.refreshedAt.set(last); // The next command that fails tries again.
			}
		}
	}

	private void refresh(ClusterConnectionProvider slots) {
		slots.renewSlotCache();
		Set<String> nodes = slots.getNodes().keySet();
		this.nodes.forEach((node, lane) -> {
			if (!nodes.contains(node.toString()) && this.nodes.remove(node, lane)) {
				lane.close();
			}
		});
	}

	@Override
	public boolean isCluster() {
		return true;
	}

	// Jedis would take one of the masters that it knew first. All of those may be gone,
	// or
	// live on outside the cluster.
	@Override
	public SignalConnection open() {
		ClusterConnectionProvider slots = this.slots;
		if (slots != null) {
			refresh(slots);
		}
		return openForCommands();
	}

	@Override
	public SignalConnection openForCommands() {
		List<HostAndPort> masters = masters(make());
		RuntimeException failure = new UnsentException("no master of the cluster is known", null);
		for (HostAndPort master : masters) {
			try {
				return new JedisClient.Connected(this.opener.apply(master).connection(), this);
			}
			catch (DataAccessException ex) {
				failure = ex;
			}
		}
		refreshSlots();
		throw failure;
	}

	private static List<HostAndPort> masters(ClusterConnectionProvider slots) {
		List<HostAndPort> masters = IntStream.range(0, Protocol.CLUSTER_HASHSLOTS)
			.mapToObj(slots::getNode)
			.filter(Objects::nonNull)
			.distinct()
			.collect(Collectors.toList());
		Collections.shuffle(masters);
		return masters;
	}

	@Nullable Object master(int slot) {
		ClusterConnectionProvider slots = this.slots;
		return (slots != null) ? slots.getNode(slot) : null;
	}

	@Override
	public synchronized void close() {
		this.closed = true;
		ClusterConnectionProvider slots = this.slots;
		if (slots != null) {
			slots.close();
		}
		this.nodes.values().forEach(PooledLane::close);
	}

}
