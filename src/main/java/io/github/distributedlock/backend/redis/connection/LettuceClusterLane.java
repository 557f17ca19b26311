package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;

import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.codec.ByteArrayCodec;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;

/**
 * Lettuce's connections to the masters of a cluster, one to each, that all threads share,
 * and which follow redirections.
 * <p>
 * They reconnect by themselves: Lettuce would keep one that does not, and refuse every
 * command for its master, whatever else became of it. After a failure the cluster is
 * asked in the background where its slots are now, at most once each command timeout.
 */
final class LettuceClusterLane implements Lane {

	private final Supplier<RedisClusterClient> client;

	private final Duration timeout;

	private final LettuceLane lane;

	private final AtomicLong askedAt;

	private volatile @Nullable StatefulRedisClusterConnection<byte[], byte[]> cluster;

	LettuceClusterLane(Supplier<RedisClusterClient> client, Duration timeout) {
		this.client = client;
		this.timeout = timeout;
		this.lane = new LettuceLane(this::connect, timeout);
		this.askedAt = new AtomicLong(System.nanoTime() - timeout.toNanos());
	}

	private ClusterLink connect() {
		try {
			StatefulRedisClusterConnection<byte[], byte[]> cluster = this.client.get().connect(ByteArrayCodec.INSTANCE);
			this.cluster = cluster;
			return new ClusterLink(cluster, this.timeout);
		}
		catch (RuntimeException ex) {
			throw LettuceLink.translated(ex);
		}
	}

	@Override
	public <T> @Nullable T run(Function<Link, @Nullable T> step) {
		try {
			return this.lane.run(step);
		}
		catch (DataAccessException ex) {
			askForSlots();
			throw ex;
		}
	}

	LettuceLink link() {
		return this.lane.open();
	}

	@Nullable Object master(int slot) {
		StatefulRedisClusterConnection<?, ?> cluster = this.cluster;
		RedisClusterNode master = (cluster != null) ? cluster.getPartitions().getMasterBySlot(slot) : null;
		return (master != null) ? master.getNodeId() : null;
	}

	@Override
	public void close() {
		this.lane.close();
	}

	private void askForSlots() {
		long last = this.askedAt.get();
		long now = System.nanoTime();
		if (this.cluster != null && now - last >= this.timeout.toNanos() && this.askedAt.compareAndSet(last, now)) {
			this.client.get().refreshPartitionsAsync();
		}
	}

	/**
	 * A node that stalls must not delay the commands for the others, so none waits for
	 * another here.
	 */
	private static final class ClusterLink extends LettuceLink {

		private final StatefulRedisClusterConnection<byte[], byte[]> cluster;

		ClusterLink(StatefulRedisClusterConnection<byte[], byte[]> cluster, Duration timeout) {
			super(cluster, timeout, () -> true);
			this.cluster = cluster;
		}

		@Override
		public boolean isCluster() {
			return true;
		}

		@Override
		boolean isBroken() {
			return false;
		}

		// Lettuce finds the node of a command by its first key.
		@Override
		void send(LettuceCommand command, byte[] key) {
			RedisClusterNode master = (command.getArgs().getFirstEncodedKey() != null) ? null
					: this.cluster.getPartitions().getMasterBySlot(SlotHash.getSlot(key));
			if (master != null) {
				this.cluster.getConnection(master.getNodeId()).dispatch(command);
			}
			else {
				super.send(command, key);
			}
		}

	}

}
