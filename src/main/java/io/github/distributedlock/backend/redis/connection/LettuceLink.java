package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.backend.redis.connection.Command.Verb;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.lettuce.LettuceExceptionConverter;

/**
 * A Lettuce connection, which many threads may share: Lettuce writes what they send at
 * the same time together.
 */
class LettuceLink extends PooledLane.Pooled {

	private static final LettuceExceptionConverter EXCEPTIONS = new LettuceExceptionConverter();

	private static final Map<Verb, ProtocolKeyword> KEYWORDS = Stream.of(Verb.values())
		.collect(Collectors.toMap((verb) -> verb, Keyword::new));

	private final StatefulConnection<byte[], byte[]> connection;

	private final long timeoutNanos;

	private final BooleanSupplier leadsToMaster;

	LettuceLink(StatefulConnection<byte[], byte[]> connection, Duration timeout, BooleanSupplier leadsToMaster) {
		this.connection = connection;
		this.timeoutNanos = timeout.toNanos();
		this.leadsToMaster = leadsToMaster;
	}

	// It notices by itself what the server has closed.
	@Override
	boolean isUsable(long restedNanos, long nanos) {
		return !isBroken() && this.leadsToMaster.getAsBoolean() && restedNanos < LONGEST_IDLE_NANOS;
	}

	@Override
	boolean isBroken() {
		return !this.connection.isOpen();
	}

	// Waits, since the end of the client would warn of one that is being closed.
	@Override
	void close() {
		this.connection.close();
	}

	/**
	 * Sends a command, and does not wait for the reply.
	 * @param key a key of the node that it is for
	 */
	void send(LettuceCommand command, byte[] key) {
		this.connection.dispatch(command);
	}

	@Override
	public List<@Nullable Object> call(List<Command> commands) {
		List<LettuceCommand> sent = new ArrayList<>(commands.size());
		List<@Nullable Object> replies = new ArrayList<>(commands.size());
		long end = System.nanoTime() + this.timeoutNanos;
		try {
			for (Command command : commands) {
				LettuceCommand one = command(command);
				sent.add(one);
				send(one, command.key());
			}
			sent.forEach((command) -> replies.add(replyOrError(command, end)));
			return replies;
		}
		catch (RuntimeException ex) {
			sent.forEach(LettuceCommand::cancel);
			// Those after the first are sent only after it.
			throw sent.get(0).giveUp() ? new UnsentException(translated(ex)) : translated(ex);
		}
	}

	private @Nullable Object replyOrError(LettuceCommand command, long end) {
		try {
			return command.await(end);
		}
		catch (RedisCommandExecutionException ex) {
			return translated(ex);
		}
	}

	private static LettuceCommand command(Command command) {
		CommandArgs<byte[], byte[]> arguments = new CommandArgs<>(ByteArrayCodec.INSTANCE);
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
