package io.github.distributedlock.backend.redis;

import java.util.List;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.commands.ProtocolCommand;

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

	// Its cluster has no pipeline by way of Spring Data.
	@Override
	public void addExpiring(RedisConnection connection, byte[] name, double score, byte[] member, long millis) {
		if (connection instanceof JedisClusterConnection) {
			RawCommands.super.addExpiring(connection, name, score, member, millis);
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
			return cluster.getNativeConnection().sendCommand(key, command, arguments);
		}
		catch (RuntimeException ex) {
			RuntimeException translated = EXCEPTIONS.convert(ex);
			throw (translated != null) ? translated : ex;
		}
	}

}
