package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.function.Supplier;

import io.github.distributedlock.backend.redis.wire.Link;
import io.github.distributedlock.backend.redis.wire.UnsentException;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.JedisCluster;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Jedis' client of a cluster, which has a pool of connections to each node.
 * <p>
 * Jedis follows redirections, and takes a lost connection for one more reason to try
 * again. It stops to try after half a command timeout, so a command that got no answer in
 * time is never sent again.
 */
final class JedisClusterLane implements Lane, Masters {

	private static final int ATTEMPTS = 5;

	private final Lazy<Client> client;

	private final Opening<Client> opening;

	JedisClusterLane(Supplier<JedisNodes> nodes, Duration timeout) {
		this.client = new Lazy<>(() -> Client.of(nodes.get(), timeout), Client::close);
		this.opening = new Opening<>(this::open, timeout);
	}

	@Override
	public <T> @Nullable T run(Step<T> step) {
		Client client = this.client.peek();
		return step.on(((client != null) ? client : this.opening.await()).link);
	}

	private Client open() {
		try {
			return this.client.get();
		}
		catch (JedisException ex) {
			// It asks the nodes first where the slots are.
			throw new UnsentException(ex);
		}
	}

	@Override
	public @Nullable Object of(int slot) {
		Client client = this.client.peek();
		return (client != null) ? client.nodes.getNode(slot) : null;
	}

	@Override
	public void close() {
		this.client.end();
	}

	@SuppressWarnings("deprecation") // What replaces JedisCluster exists since Jedis 7.
	private record Client(JedisNodes nodes, JedisCluster cluster, Link link) {

		static Client of(JedisNodes nodes, Duration timeout) {
			JedisCluster cluster = new JedisCluster(nodes, ATTEMPTS, timeout.dividedBy(2));
			return new Client(nodes, cluster, new JedisClusterLink(cluster));
		}

		void close() {
			this.cluster.close();
		}

	}

}
