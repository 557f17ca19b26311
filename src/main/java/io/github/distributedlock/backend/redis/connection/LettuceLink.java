package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.nio.ByteBuffer;
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
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.lettuce.LettuceExceptionConverter;

/**
 * A Lettuce connection, which many threads may share: Lettuce writes what they send at
 * the same time together.
 */
final class LettuceLink extends PooledLane.Pooled {

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
	boolean isUsable(long idleNanos, long nanos) {
		return !isBroken() && this.leadsToMaster.getAsBoolean() && idleNanos < LONGEST_IDLE_NANOS;
	}

	@Override
	public boolean isCluster() {
		return this.connection instanceof StatefulRedisClusterConnection;
	}

	// In a cluster it has one connection to each master, and those reconnect.
	@Override
	boolean isBroken() {
		return !isCluster() && !this.connection.isOpen();
	}

	// Waits, since the end of the client would warn of one that is being closed.
	@Override
	void close() {
		this.connection.close();
	}

	@Override
	public @Nullable Object exchange(Command command) {
		LettuceCommand sent = lettuce(command);
		Command next = command.next();
		try {
			if (next == null) {
				this.connection.dispatch(sent);
				return sent.await(this.timeoutNanos);
			}
			long end = System.nanoTime() + this.timeoutNanos;
			LettuceCommand sentNext = lettuce(next);
			this.connection.dispatch(List.of(sent, sentNext));
			sent.await(end - System.nanoTime());
			return sentNext.await(end - System.nanoTime());
		}
		catch (RedisCommandExecutionException ex) {
			return translated(ex);
		}
		catch (RuntimeException ex) {
			sent.cancel();
			throw sent.giveUp() ? new UnsentException(translated(ex)) : translated(ex);
		}
	}

	private static LettuceCommand lettuce(Command command) {
		return new LettuceCommand(Objects.requireNonNull(KEYWORDS.get(command.verb())), new Arguments(command));
	}

	static RuntimeException translated(RuntimeException failure) {
		return Objects.requireNonNullElse(EXCEPTIONS.convert(failure), failure);
	}

	/**
	 * In a cluster Lettuce finds the node of a command by its first key, which here is
	 * also that of a command without a key.
	 */
	private static final class Arguments extends CommandArgs<byte[], byte[]> {

		private final byte[] key;

		Arguments(Command command) {
			super(ByteArrayCodec.INSTANCE);
			this.key = command.key();
			for (byte[] argument : command.arguments()) {
				add(argument);
			}
		}

		@Override
		public ByteBuffer getFirstEncodedKey() {
			return ByteBuffer.wrap(this.key);
		}

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
