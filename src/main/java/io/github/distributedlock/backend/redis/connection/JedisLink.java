package io.github.distributedlock.backend.redis.connection;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.backend.redis.wire.Command.Verb;
import io.github.distributedlock.backend.redis.wire.Link;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.commands.ProtocolCommand;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

import org.springframework.data.redis.connection.jedis.JedisExceptionConverter;

/**
 * A Jedis connection, for one thread.
 */
record JedisLink(Connection connection) implements Link {

	private static final JedisExceptionConverter EXCEPTIONS = new JedisExceptionConverter();

	private static final Map<Verb, ProtocolCommand> COMMANDS = Stream.of(Verb.values())
		.collect(Collectors.toMap((verb) -> verb, (verb) -> verb::bytes));

	@Override
	public @Nullable Object call(Command command) {
		send(command);
		Object reply = receive();
		if (reply instanceof RuntimeException error) {
			throw error;
		}
		return reply;
	}

	@Override
	public List<@Nullable Object> call(List<Command> commands) {
		commands.forEach(this::send);
		List<@Nullable Object> replies = new ArrayList<>();
		commands.forEach((command) -> replies.add(receive()));
		return replies;
	}

	/**
	 * Sends a command, or keeps it until the next reply is asked for.
	 */
	void send(Command command) {
		try {
			this.connection.sendCommand(command(command.verb()), command.arguments());
		}
		catch (JedisConnectionException ex) {
			// Its message may be the server's answer to a command that was sent before.
			throw translated(
					new JedisConnectionException("the connection was lost while commands were sent", ex.getCause()));
		}
		catch (RuntimeException ex) {
			throw translated(ex);
		}
	}

	/**
	 * Waits for the next reply.
	 * @return the reply; an error as a {@code RuntimeException}
	 */
	@Nullable Object receive() {
		try {
			return withoutError(this.connection.getOne());
		}
		catch (JedisDataException ex) {
			return translated(ex);
		}
		catch (RuntimeException ex) {
			throw translated(ex);
		}
	}

	// A transaction's replies, one of which may be an error.
	private static @Nullable Object withoutError(@Nullable Object reply) {
		if (reply instanceof List<?> replies) {
			for (Object one : replies) {
				if (one instanceof JedisDataException error) {
					throw error;
				}
			}
		}
		return reply;
	}

	static ProtocolCommand command(Verb verb) {
		return Objects.requireNonNull(COMMANDS.get(verb));
	}

	static RuntimeException translated(RuntimeException failure) {
		RuntimeException translated = EXCEPTIONS.convert(failure);
		return (translated != null) ? translated : failure;
	}

}
