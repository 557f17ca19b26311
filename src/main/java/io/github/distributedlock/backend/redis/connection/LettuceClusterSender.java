package io.github.distributedlock.backend.redis.connection;

import java.util.List;

import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;

/**
 * Lettuce's connections to the nodes of a cluster, which follow redirections. A node that
 * stalls must not delay the commands for the others, so none waits for another here.
 *
 * @param cluster the connections
 */
record LettuceClusterSender(StatefulRedisClusterConnection<byte[], byte[]> cluster) implements LettuceSender {

	@Override
	public void send(List<LettuceCommand> commands, byte[] key) {
		commands.forEach((command) -> {
			command.claim();
			// Finds the node of a command by its first key.
			boolean routed = command.getArgs().getFirstEncodedKey() != null;
			StatefulConnection<byte[], byte[]> target = routed ? this.cluster : node(key);
			target.dispatch(command);
		});
	}

	private StatefulConnection<byte[], byte[]> node(byte[] key) {
		RedisClusterNode master = this.cluster.getPartitions().getMasterBySlot(SlotHash.getSlot(key));
		return (master != null) ? this.cluster.getConnection(master.getNodeId()) : this.cluster;
	}

	@Override
	public boolean isOpen() {
		return true;
	}

}
