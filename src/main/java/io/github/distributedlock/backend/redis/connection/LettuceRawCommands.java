package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.ZAddArgs;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.output.StatusOutput;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisClusterNode;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnection;
import org.springframework.data.redis.connection.lettuce.LettuceExceptionConverter;

/**
 * Lettuce fails on an answer of another type than it was told, after the server has
 * carried the command out. It finds the node by the first argument.
 */
final class LettuceRawCommands implements RawCommands {

	private static final LettuceExceptionConverter EXCEPTIONS = new LettuceExceptionConverter();

	private final Duration timeout;

	LettuceRawCommands(Duration timeout) {
		this.timeout = timeout;
	}

	@Override
	public @Nullable Object send(RedisConnection connection, Type type, String command, byte[]... arguments) {
		CommandOutput<byte[], byte[], ?> output = switch (type) {
			case NUMBER -> new IntegerOutput<>(ByteArrayCodec.INSTANCE);
			case STATUS -> new StatusOutput<>(ByteArrayCodec.INSTANCE);
		};
		return ((LettuceConnection) connection).execute(command, output, arguments);
	}

	@Override
	public void addExpiring(RedisConnection connection, byte[] name, double score, byte[] member, long millis) {
		RedisFuture<Long> added = ((LettuceConnection) connection).getNativeConnection()
			.zadd(name, ZAddArgs.Builder.nx(), score, member);
		connection.keyCommands().pExpire(name, millis);
		try {
			// Answered by now, but for one that was sent to another node.
			LettuceFutures.awaitOrCancel(added, this.timeout.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (RuntimeException ex) {
			RuntimeException translated = EXCEPTIONS.convert(ex);
			throw (translated != null) ? translated : ex;
		}
	}

	@Override
	public long micros(RedisConnection connection, byte[] name) {
		if (connection instanceof RedisClusterConnection cluster) {
			RedisClusterNode node = Objects.requireNonNull(cluster.clusterGetNodeForKey(name));
			Long time = cluster.serverCommands().time(node, TimeUnit.MICROSECONDS);
			return (time != null) ? time : 0;
		}
		return RawCommands.super.micros(connection, name);
	}

}
