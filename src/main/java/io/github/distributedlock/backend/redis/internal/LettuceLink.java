package io.github.distributedlock.backend.redis.internal;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.backend.redis.internal.Command.Verb;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.lettuce.LettuceExceptionConverter;

/**
 * A Lettuce connection, which many threads may share: Lettuce writes commands of the same
 * moment together.
 */
final class LettuceLink extends PooledLane.Pooled {

	private static final Logger logger = LoggerFactory.getLogger(LettuceLink.class);

	private static final long CLOSE_MILLIS = 100;

	private static final LettuceExceptionConverter EXCEPTIONS = new LettuceExceptionConverter();

	private static final Map<Verb, ProtocolKeyword> KEYWORDS = Stream.of(Verb.values())
		.collect(Collectors.toMap((verb) -> verb, Keyword::new));

	private final StatefulConnection<byte[], byte[]> connection;

	private final long timeoutNanos;

	private final BooleanSupplier leadsToMaster;

	private final AtomicBoolean closed = new AtomicBoolean();

	private volatile long repliedAt = System.nanoTime();

	LettuceLink(StatefulConnection<byte[], byte[]> connection, Duration timeout, BooleanSupplier leadsToMaster) {
		this.connection = connection;
		this.timeoutNanos = timeout.toNanos();
		this.leadsToMaster = leadsToMaster;
	}

	// Lettuce notices by itself that the server has closed the connection.
	@Override
	boolean isUsable(long idleNanos, long nanos) {
		return !isBroken() && this.leadsToMaster.getAsBoolean() && idleNanos < LONGEST_IDLE_NANOS;
	}

	@Override
	boolean isBroken() {
		return this.closed.get() || !this.connection.isOpen();
	}

	/**
	 * Returns whether no reply has come for a whole command timeout. Replies come in
	 * order, so a connection with replies is slow, and not dead.
	 */
	boolean isSilent() {
		return System.nanoTime() - this.repliedAt >= this.timeoutNanos;
	}

	// Lettuce closes in its event loop, which the application may have blocked, so the
	// wait is bounded. Without any wait, a client that ends would warn of a connection
	// that is still being closed.
	@Override
	void close() {
		if (this.closed.compareAndSet(false, true)) {
			try {
				this.connection.closeAsync().get(CLOSE_MILLIS, TimeUnit.MILLISECONDS);
			}
			catch (ExecutionException | TimeoutException ex) {
				logger.debug("The connection is not closed yet", ex);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}
	}

	@Override
	public @Nullable Object exchange(Command command) {
		List<LettuceCommand> sent = new ArrayList<>(1);
		for (Command next = command; next != null; next = next.next()) {
			sent.add(lettuce(next));
		}
		try {
			long end = System.nanoTime() + this.timeoutNanos;
			Object reply = null;
			if (sent.size() == 1) {
				this.connection.dispatch(sent.get(0));
			}
			else {
				this.connection.dispatch(sent);
			}
			for (LettuceCommand each : sent) {
				reply = each.await(end - System.nanoTime());
			}
			this.repliedAt = System.nanoTime();
			return reply;
		}
		catch (RedisCommandExecutionException ex) {
			this.repliedAt = System.nanoTime();
			return translated(ex);
		}
		catch (RuntimeException ex) {
			throw isGivenUp(sent) ? new UnsentException(translated(ex)) : translated(ex);
		}
	}

	// Commands are sent in order. Once one command was sent, the others have to follow,
	// such as the PEXPIRE of a new key, so none of them is given up.
	private static boolean isGivenUp(List<LettuceCommand> commands) {
		return commands.stream().allMatch((command) -> {
			boolean givenUp = command.giveUp();
			if (givenUp) {
				command.cancel();
			}
			return givenUp;
		});
	}

	private static LettuceCommand lettuce(Command command) {
		CommandArgs<byte[], byte[]> arguments = new CommandArgs<>(ByteArrayCodec.INSTANCE);
		for (byte[] argument : command.arguments()) {
			arguments.add(argument);
		}
		return new LettuceCommand(Objects.requireNonNull(KEYWORDS.get(command.verb())), arguments);
	}

	static RuntimeException translated(RuntimeException failure) {
		return Objects.requireNonNullElse(EXCEPTIONS.convert(failure), failure);
	}

	/**
	 * The name of a command. MULTI and EXEC are in lower case, so that Lettuce treats
	 * them as ordinary commands: Lettuce would keep back the replies and refusals of the
	 * commands between them.
	 */
	private static final class Keyword implements ProtocolKeyword {

		private final String name;

		private final byte[] bytes;

		Keyword(Verb verb) {
			this.name = (verb == Verb.MULTI || verb == Verb.EXEC) ? verb.name().toLowerCase(Locale.ROOT) : verb.name();
			this.bytes = this.name.getBytes(StandardCharsets.UTF_8);
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
