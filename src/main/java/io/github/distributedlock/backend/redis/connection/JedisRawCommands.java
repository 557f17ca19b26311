package io.github.distributedlock.backend.redis.connection;

import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.RedisRefusal;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.JedisCluster;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.commands.ProtocolCommand;
import redis.clients.jedis.exceptions.JedisRedirectionException;
import redis.clients.jedis.params.ZAddParams;
import redis.clients.jedis.util.JedisClusterCRC16;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.jedis.JedisClusterConnection;
import org.springframework.data.redis.connection.jedis.JedisExceptionConverter;

/**
 * Jedis knows what an answer is when it sees it. In a cluster it has to be asked itself:
 * Spring Data would look up the node in another way, which asks any node where the others
 * are.
 */
final class JedisRawCommands implements RawCommands {

	private static final JedisExceptionConverter EXCEPTIONS = new JedisExceptionConverter();

	@Override
	public @Nullable Object send(RedisConnection connection, Type type, String command, byte[]... arguments) {
		if (connection instanceof JedisClusterConnection cluster) {
			return send(cluster, arguments[0], () -> KeyNames.bytes(command), arguments);
		}
		return connection.execute(command, arguments);
	}

	// Its own transactions do not look at the answer to MULTI before they send the rest.
	@Override
	public @Nullable List<?> inTransaction(RedisConnection connection, Type type, String command, byte[]... arguments) {
		try {
			connection.execute("MULTI");
			connection.execute(command, arguments);
		}
		catch (RuntimeException ex) {
			if (RedisRefusal.of(ex) != null || RedisRefusal.isError(ex)) {
				// Aborts it, and needs no further right, as DISCARD would.
				RawCommands.end(() -> connection.execute("EXEC"), ex);
			}
			throw ex;
		}
		return (List<?>) connection.execute("EXEC");
	}

	@Override
	@SuppressWarnings("deprecation") // What replaces JedisCluster exists since Jedis 7.
	public void addExpiring(RedisConnection connection, byte[] name, double score, byte[] member, long millis) {
		if (connection instanceof JedisClusterConnection) {
			if (jedis(connection) instanceof JedisCluster cluster) {
				addExpiring(connection, cluster, name, score, member, millis);
			}
			else {
				RawCommands.super.addExpiring(connection, name, score, member, millis);
			}
			return;
		}
		connection.openPipeline();
		try {
			RawCommands.super.addExpiring(connection, name, score, member, millis);
		}
		finally {
			connection.closePipeline();
		}
	}

	// Spring Data has no pipeline to a cluster, and that of Jedis starts a thread for
	// each.
	@SuppressWarnings("deprecation") // What replaces JedisCluster exists since Jedis 7.
	private void addExpiring(RedisConnection connection, JedisCluster cluster, byte[] name, double score, byte[] member,
			long millis) {
		int slot = JedisClusterCRC16.getSlot(name);
		try (Connection node = cluster.getConnectionFromSlot(slot); Pipeline pipeline = new Pipeline(node)) {
			Response<Long> added = pipeline.zadd(name, score, member, ZAddParams.zAddParams().nx());
			Response<Long> expires = pipeline.pexpire(name, millis);
			pipeline.sync();
			added.get();
			expires.get();
		}
		catch (JedisRedirectionException ex) {
			// The slot has moved. A cluster's own commands follow it.
			RawCommands.super.addExpiring(connection, name, score, member, millis);
		}
		catch (RuntimeException ex) {
			throw translated(ex);
		}
	}

	@Override
	public long micros(RedisConnection connection, byte[] name) {
		if (connection instanceof JedisClusterConnection cluster
				&& send(cluster, name, Protocol.Command.TIME) instanceof List<?> time) {
			return TimeUnit.SECONDS.toMicros(number(time.get(0))) + number(time.get(1));
		}
		return RawCommands.super.micros(connection, name);
	}

	private static long number(Object text) {
		return Long.parseLong(KeyNames.text((byte[]) text));
	}

	@SuppressWarnings("deprecation") // What replaces it exists since Jedis 7.
	private static @Nullable Object send(JedisClusterConnection cluster, byte[] key, ProtocolCommand command,
			byte[]... arguments) {
		try {
			return jedis(cluster).sendCommand(key, command, arguments);
		}
		catch (RuntimeException ex) {
			throw translated(ex);
		}
	}

	// By the general type: that of a cluster promises another class in Spring Data 4 than
	// in 3.
	private static UnifiedJedis jedis(RedisConnection cluster) {
		return (UnifiedJedis) cluster.getNativeConnection();
	}

	private static RuntimeException translated(RuntimeException failure) {
		RuntimeException translated = EXCEPTIONS.convert(failure);
		return (translated != null) ? translated : failure;
	}

}
