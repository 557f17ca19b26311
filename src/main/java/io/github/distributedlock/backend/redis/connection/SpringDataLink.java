package io.github.distributedlock.backend.redis.connection;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.Link;
import io.github.distributedlock.backend.redis.wire.RedisRefusal;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStringCommands.SetOption;
import org.springframework.data.redis.connection.RedisZSetCommands.ZAddArgs;
import org.springframework.data.redis.core.types.Expiration;

/**
 * Spring Data's connection, over whatever client that may be. Commands go by the methods
 * that Spring Data has for them: its general one knows neither what a reply is nor, in a
 * cluster, the node, and some clients do not have it for all commands.
 */
record SpringDataLink(RedisConnection connection) implements Link {

	@Override
	public @Nullable Object call(Command command) {
		byte[] key = command.key();
		byte[][] arguments = command.arguments();
		return switch (command.verb()) {
			case GET -> this.connection.stringCommands().get(key);
			case SET -> set(command);
			case DEL -> this.connection.keyCommands().del(key);
			case PTTL -> this.connection.keyCommands().pTtl(key);
			case PEXPIRE -> number(this.connection.keyCommands().pExpire(key, number(arguments[1])));
			case ZADD -> add(key, arguments);
			case ZREM -> this.connection.zSetCommands().zRem(key, arguments[1]);
			case ZRANGE -> range(key, arguments);
			case TIME -> time();
			case PUBLISH -> this.connection.publish(arguments[0], arguments[1]);
			case EVALSHA -> this.connection.scriptingCommands()
				.evalSha(arguments[0], Objects.requireNonNull(command.answer()), (int) number(arguments[1]),
						Arrays.copyOfRange(arguments, 2, arguments.length));
			case EVAL -> this.connection.scriptingCommands()
				.eval(arguments[0], Objects.requireNonNull(command.answer()), (int) number(arguments[1]),
						Arrays.copyOfRange(arguments, 2, arguments.length));
			default -> execute(command);
		};
	}

	@Override
	public List<@Nullable Object> call(List<Command> commands) {
		List<@Nullable Object> replies = new ArrayList<>();
		commands.forEach((command) -> replies.add(replyOrError(command)));
		return replies;
	}

	private @Nullable Object replyOrError(Command command) {
		try {
			return call(command);
		}
		catch (RuntimeException ex) {
			if (RedisRefusal.of(ex) == null && !RedisRefusal.isError(ex)) {
				throw ex;
			}
			return ex;
		}
	}

	@Override
	public boolean isCluster() {
		return this.connection instanceof RedisClusterConnection;
	}

	private @Nullable Object execute(Command command) {
		Object reply = this.connection.execute(command.verb().name(), command.arguments());
		return (reply instanceof String text) ? KeyNames.bytes(text) : reply;
	}

	@SuppressWarnings("deprecation") // What replaces it exists since Spring Data 4.1.
	private @Nullable Object set(Command command) {
		byte[][] arguments = command.arguments();
		SetOption option = switch (KeyNames.text(arguments[arguments.length - 1])) {
			case "NX" -> SetOption.ifAbsent();
			case "XX" -> SetOption.ifPresent();
			default -> null;
		};
		if (option == null) {
			return execute(command);
		}
		Boolean set = this.connection.stringCommands()
			.set(command.key(), arguments[1], Expiration.milliseconds(number(arguments[3])), option);
		return Boolean.TRUE.equals(set) ? KeyNames.bytes("OK") : null;
	}

	private Long add(byte[] key, byte[][] arguments) {
		ZAddArgs option = KeyNames.text(arguments[1]).equals("NX") ? ZAddArgs.ifNotExists() : ZAddArgs.ifExists();
		double score = Double.parseDouble(KeyNames.text(arguments[2]));
		return number(this.connection.zSetCommands().zAdd(key, score, arguments[3], option));
	}

	private List<?> range(byte[] key, byte[][] arguments) {
		long from = number(arguments[1]);
		long to = number(arguments[2]);
		if (arguments.length == 3) {
			return list(this.connection.zSetCommands().zRange(key, from, to));
		}
		return list(this.connection.zSetCommands().zRangeWithScores(key, from, to)).stream()
			.map((member) -> List.of(member.getValue(), member.getScore()))
			.toList();
	}

	// Of an arbitrary node of a cluster.
	private List<byte[]> time() {
		long micros = Objects.requireNonNull(this.connection.serverCommands().time(TimeUnit.MICROSECONDS));
		long second = TimeUnit.SECONDS.toMicros(1);
		return List.of(KeyNames.number(micros / second), KeyNames.number(micros % second));
	}

	private static <T> List<T> list(@Nullable Collection<T> elements) {
		return (elements != null) ? List.copyOf(elements) : List.of();
	}

	private static Long number(@Nullable Boolean reply) {
		return Boolean.TRUE.equals(reply) ? 1L : 0L;
	}

	private static long number(byte[] text) {
		return Long.parseLong(KeyNames.text(text));
	}

}
