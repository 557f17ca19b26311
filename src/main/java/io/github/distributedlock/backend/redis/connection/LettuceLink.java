package io.github.distributedlock.backend.redis.connection;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.backend.redis.wire.Command.Verb;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.Link;
import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.BaseRedisAsyncCommands;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.api.async.RedisAdvancedClusterAsyncCommands;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceExceptionConverter;

/**
 * A Lettuce connection. Threads may share it, but for a transaction.
 */
final class LettuceLink implements Link {

	private static final LettuceExceptionConverter EXCEPTIONS = new LettuceExceptionConverter();

	private static final Map<Verb, ProtocolKeyword> KEYWORDS = Stream.of(Verb.values())
		.collect(Collectors.toMap((verb) -> verb, Keyword::new));

	private final BaseRedisAsyncCommands<byte[], byte[]> commands;

	private final @Nullable StatefulRedisClusterConnection<byte[], byte[]> cluster;

	private final long timeoutNanos;

	private LettuceLink(BaseRedisAsyncCommands<byte[], byte[]> commands,
			@Nullable StatefulRedisClusterConnection<byte[], byte[]> cluster, long timeoutNanos) {
		this.commands = commands;
		this.cluster = cluster;
		this.timeoutNanos = timeoutNanos;
	}

	static LettuceLink of(StatefulRedisConnection<byte[], byte[]> connection, long timeoutNanos) {
		return new LettuceLink(connection.async(), null, timeoutNanos);
	}

	@SuppressWarnings("unchecked")
	static LettuceLink of(RedisConnection connection, long timeoutNanos) {
		BaseRedisAsyncCommands<byte[], byte[]> commands = (BaseRedisAsyncCommands<byte[], byte[]>) connection
			.getNativeConnection();
		return new LettuceLink(commands, (commands instanceof RedisAdvancedClusterAsyncCommands<byte[], byte[]> nodes)
				? nodes.getStatefulConnection() : null, timeoutNanos);
	}

	@Nullable StatefulRedisClusterConnection<byte[], byte[]> cluster() {
		return this.cluster;
	}

	@Override
	public boolean isCluster() {
		return this.cluster != null;
	}

	@Override
	public @Nullable Object call(Command command) {
		try {
			return await(dispatch(command));
		}
		catch (RuntimeException ex) {
			throw translated(ex);
		}
	}

	@Override
	public List<@Nullable Object> call(List<Command> commands) {
		List<@Nullable Object> replies = new ArrayList<>();
		try {
			for (RedisFuture<Object> reply : commands.stream().map(this::dispatch).toList()) {
				replies.add(replyOrError(reply));
			}
		}
		catch (RuntimeException ex) {
			throw translated(ex);
		}
		return replies;
	}

	private @Nullable Object replyOrError(RedisFuture<Object> reply) {
		try {
			return await(reply);
		}
		catch (RedisCommandExecutionException ex) {
			return translated(ex);
		}
	}

	private @Nullable Object await(RedisFuture<Object> reply) {
		return LettuceFutures.awaitOrCancel(reply, this.timeoutNanos, TimeUnit.NANOSECONDS);
	}

	// A cluster connection finds the node by the first key.
	private RedisFuture<Object> dispatch(Command command) {
		CommandArgs<byte[], byte[]> arguments = new CommandArgs<>(ByteArrayCodec.INSTANCE);
		boolean routed = false;
		for (byte[] argument : command.arguments()) {
			if (argument == command.key()) {
				arguments.addKey(argument);
				routed = true;
			}
			else {
				arguments.add(argument);
			}
		}
		BaseRedisAsyncCommands<byte[], byte[]> target = (routed || this.cluster == null) ? this.commands
				: node(this.cluster, command.key());
		return target.dispatch(KEYWORDS.get(command.verb()), new LettuceReply(), arguments);
	}

	private BaseRedisAsyncCommands<byte[], byte[]> node(StatefulRedisClusterConnection<byte[], byte[]> cluster,
			byte[] key) {
		RedisClusterNode master = cluster.getPartitions().getMasterBySlot(SlotHash.getSlot(key));
		return (master != null) ? cluster.getConnection(master.getNodeId()).async() : this.commands;
	}

	private static RuntimeException translated(RuntimeException failure) {
		RuntimeException translated = EXCEPTIONS.convert(failure);
		return (translated != null) ? translated : failure;
	}

	/**
	 * In lower case, so that Lettuce takes MULTI for any other command: it would keep
	 * what is sent after it until EXEC, replies and refusals.
	 */
	private static final class Keyword implements ProtocolKeyword {

		private final String name;

		private final byte[] bytes;

		Keyword(Verb verb) {
			this.name = verb.name().toLowerCase(Locale.ROOT);
			this.bytes = KeyNames.bytes(this.name);
		}

		@Override
		public byte[] getBytes() {
			return this.bytes;
		}

		@Override
		public String toString() {
			return this.name;
		}

	}

}
