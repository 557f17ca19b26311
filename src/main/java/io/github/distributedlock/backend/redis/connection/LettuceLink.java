package io.github.distributedlock.backend.redis.connection;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.backend.redis.wire.Command.Verb;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.Link;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.cluster.api.async.RedisAdvancedClusterAsyncCommands;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceExceptionConverter;

/**
 * Sends commands by Lettuce and waits for the replies.
 *
 * @param sender where to
 * @param timeoutNanos how long each command may take
 */
record LettuceLink(LettuceSender sender, long timeoutNanos) implements Link {

	private static final LettuceExceptionConverter EXCEPTIONS = new LettuceExceptionConverter();

	private static final Map<Verb, ProtocolKeyword> KEYWORDS = Stream.of(Verb.values())
		.collect(Collectors.toMap((verb) -> verb, Keyword::new));

	/**
	 * A link over Spring Data's connection, to a server or to a cluster.
	 */
	// What replaces it exists only for other kinds.
	@SuppressWarnings({ "deprecation", "unchecked" })
	static LettuceLink of(RedisConnection connection, long timeoutNanos) {
		LettuceSender sender = (connection
			.getNativeConnection() instanceof RedisAdvancedClusterAsyncCommands<?, ?> cluster)
					? new LettuceClusterSender(
							((RedisAdvancedClusterAsyncCommands<byte[], byte[]>) cluster).getStatefulConnection())
					: LettuceBatchSender.of(connection);
		return new LettuceLink(sender, timeoutNanos);
	}

	/**
	 * The same for a step that has less time, or more.
	 */
	LettuceLink within(long nanos) {
		return new LettuceLink(this.sender, nanos);
	}

	@Override
	public boolean isCluster() {
		return this.sender instanceof LettuceClusterSender;
	}

	@Override
	public @Nullable Object call(Command command) {
		LettuceCommand sent = command(command);
		try {
			this.sender.send(List.of(sent), command.key());
			return sent.await(this.timeoutNanos);
		}
		catch (RuntimeException ex) {
			throw translated(ex);
		}
	}

	@Override
	public List<@Nullable Object> call(List<Command> commands) {
		List<LettuceCommand> sent = commands.stream().map(LettuceLink::command).toList();
		List<@Nullable Object> replies = new ArrayList<>(sent.size());
		long end = System.nanoTime() + this.timeoutNanos;
		try {
			this.sender.send(sent, commands.get(0).key());
			sent.forEach((command) -> replies.add(replyOrError(command, end - System.nanoTime())));
			return replies;
		}
		catch (RuntimeException ex) {
			sent.forEach(LettuceCommand::cancel);
			throw translated(ex);
		}
	}

	private @Nullable Object replyOrError(LettuceCommand command, long nanos) {
		try {
			return command.await(nanos);
		}
		catch (RedisCommandExecutionException ex) {
			return translated(ex);
		}
	}

	private static LettuceCommand command(Command command) {
		CommandArgs<byte[], byte[]> arguments = LettuceCommand.arguments();
		for (byte[] argument : command.arguments()) {
			if (argument == command.key()) {
				arguments.addKey(argument);
			}
			else {
				arguments.add(argument);
			}
		}
		return new LettuceCommand(Objects.requireNonNull(KEYWORDS.get(command.verb())), arguments);
	}

	static RuntimeException translated(RuntimeException failure) {
		RuntimeException translated = EXCEPTIONS.convert(failure);
		return (translated != null) ? translated : failure;
	}

	/**
	 * MULTI and EXEC are in lower case, so that Lettuce takes them for any other command:
	 * it would keep what is sent between them, replies and refusals.
	 */
	private static final class Keyword implements ProtocolKeyword {

		private final String name;

		private final byte[] bytes;

		Keyword(Verb verb) {
			this.name = (verb == Verb.MULTI || verb == Verb.EXEC) ? verb.name().toLowerCase(Locale.ROOT) : verb.name();
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
