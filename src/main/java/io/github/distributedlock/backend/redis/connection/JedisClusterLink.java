package io.github.distributedlock.backend.redis.connection;

import java.util.ArrayList;
import java.util.List;

import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.backend.redis.wire.Link;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.JedisCluster;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.exceptions.JedisRedirectionException;
import redis.clients.jedis.util.JedisClusterCRC16;

import org.springframework.dao.DataAccessException;

/**
 * Jedis' client of a cluster, which has connections to each node, and follows
 * redirections.
 */
record JedisClusterLink(UnifiedJedis cluster) implements Link {

	@Override
	@SuppressWarnings("deprecation") // What replaces it exists since Jedis 7.
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
	@SuppressWarnings("deprecation") // What replaces JedisCluster exists since Jedis 7.
	public List<@Nullable Object> call(List<Command> commands) {
		if (!(this.cluster instanceof JedisCluster nodes)) {
			return oneByOne(commands);
		}
		try (Connection node = nodes.getConnectionFromSlot(JedisClusterCRC16.getSlot(commands.get(0).key()))) {
			List<@Nullable Object> replies = new JedisLink(node).call(commands);
			for (int i = 0; i < replies.size(); i++) {
				if (replies.get(i) instanceof RuntimeException error && isRedirection(error)) {
					replies.set(i, replyOrError(commands.get(i)));
				}
			}
			return replies;
		}
		catch (JedisException ex) {
			throw JedisLink.translated(ex);
		}
	}

	private List<@Nullable Object> oneByOne(List<Command> commands) {
		List<@Nullable Object> replies = new ArrayList<>();
		commands.forEach((command) -> replies.add(replyOrError(command)));
		return replies;
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

	private static boolean isRedirection(Throwable error) {
		return error.getCause() instanceof JedisRedirectionException;
	}

	@Override
	public boolean isCluster() {
		return true;
	}

}
