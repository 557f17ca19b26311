package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Lettuce's connections to the masters of a cluster, one to each, that all threads share.
 * <p>
 * They reconnect by themselves: Lettuce would keep one that does not, and refuse every
 * command for its master, whatever else became of it. After a failure the cluster is
 * asked in the background where its slots are now, at most once each command timeout.
 */
final class LettuceClusterLane implements Lane, Masters {

	private final Lazy<LettuceConnectionFactory> factory;

	private final LettuceLane lane;

	private final long pauseNanos;

	private final AtomicLong askedAt;

	private volatile @Nullable StatefulRedisClusterConnection<?, ?> cluster;

	LettuceClusterLane(Lazy<LettuceConnectionFactory> factory, Duration timeout) {
		this.factory = factory;
		this.lane = new LettuceLane(factory, timeout);
		this.pauseNanos = timeout.toNanos();
		this.askedAt = new AtomicLong(System.nanoTime() - this.pauseNanos);
	}

	@Override
	public <T> @Nullable T run(Step<T> step) {
		try {
			return this.lane.run((link) -> {
				if (this.cluster == null && ((LettuceLink) link).sender() instanceof LettuceClusterSender sender) {
					this.cluster = sender.cluster();
				}
				return step.on(link);
			});
		}
		catch (DataAccessException ex) {
			askForSlots();
			throw ex;
		}
	}

	@Override
	public @Nullable Object of(int slot) {
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
		if (this.cluster != null && now - last >= this.pauseNanos && this.askedAt.compareAndSet(last, now)
				&& this.factory.get().getRequiredNativeClient() instanceof RedisClusterClient client) {
			client.refreshPartitionsAsync();
		}
	}

}
