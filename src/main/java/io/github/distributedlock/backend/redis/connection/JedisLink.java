package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

import org.springframework.data.redis.connection.jedis.JedisExceptionConverter;

/**
 * A Jedis connection, for one thread.
 */
final class JedisLink extends PooledLane.Pooled implements Combiner.Wire {

	private static final Logger logger = LoggerFactory.getLogger(JedisLink.class);

	/** After that it is asked whether it is still there, which takes a round trip. */
	private static final long CHECK_IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);

	private static final JedisExceptionConverter EXCEPTIONS = new JedisExceptionConverter();

	/** A server takes in so much even while it reads nothing. More may block. */
	private static final int UNGUARDED_BYTES = 32_768;

	private final Connection connection;

	private final Runnable abort;

	private final long timeoutNanos;

	private final BooleanSupplier leadsToMaster;

	/** What was sent since the last reply. */
	private int unanswered;

	/** Aborts the connection unless it is completed in time. */
	private @Nullable CompletableFuture<Void> guard;

	/**
	 * Creates a link.
	 * @param abort closes the socket at once, which ends a thread that is stuck in
	 * sending
	 */
	JedisLink(Connection connection, Runnable abort, Duration timeout, BooleanSupplier leadsToMaster) {
		this.connection = connection;
		this.abort = abort;
		this.timeoutNanos = timeout.toNanos();
		this.leadsToMaster = leadsToMaster;
	}

	Connection connection() {
		return this.connection;
	}

	// What the server, or something on the way, closed meanwhile shows only when it is
	// used, and a command must not be sent twice.
	@Override
	boolean isUsable(long idleNanos, long nanos) {
		return !isBroken() && this.leadsToMaster.getAsBoolean() && idleNanos < LONGEST_IDLE_NANOS
				&& (idleNanos < CHECK_IDLE_NANOS || answers(nanos));
	}

	private boolean answers(long nanos) {
		try {
			limit(nanos);
			return this.connection.ping();
		}
		catch (JedisDataException ex) {
			return true; // Also if the user may not ask.
		}
		catch (JedisException ex) {
			this.connection.setBroken();
			return false;
		}
	}

	@Override
	boolean isBroken() {
		return this.connection.isBroken();
	}

	@Override
	void close() {
		try {
			this.connection.disconnect();
		}
		catch (RuntimeException ex) {
			logger.debug("The connection had ended already", ex);
		}
	}

	@Override
	public @Nullable Object exchange(Command command) {
		send(command);
		return receive(command, this.timeoutNanos);
	}

	@Override
	public void send(Command command) {
		guard(command);
		try {
			this.connection.sendCommand(command.verb()::bytes, command.arguments());
		}
		catch (JedisConnectionException ex) {
			// Its message may be the server's answer to a command that was sent before.
			throw translated(
					new JedisConnectionException("the connection was lost while commands were sent", ex.getCause()));
		}
		catch (RuntimeException ex) {
			throw translated(ex);
		}
		if (command.next() != null) {
			send(command.next());
		}
	}

	// No time-out of a socket ends a thread that is stuck in sending.
	private void guard(Command command) {
		for (byte[] argument : command.arguments()) {
			this.unanswered += argument.length;
		}
		if (this.unanswered > UNGUARDED_BYTES && this.guard == null) {
			CompletableFuture<Void> guard = new CompletableFuture<>();
			this.guard = guard;
			guard.orTimeout(2 * this.timeoutNanos, TimeUnit.NANOSECONDS).exceptionally((late) -> {
				this.abort.run();
				return null;
			});
		}
	}

	private void unguard() {
		this.unanswered = 0;
		if (this.guard != null) {
			this.guard.complete(null);
			this.guard = null;
		}
	}

	@Override
	public @Nullable Object receive(Command command, long nanos) {
		Object reply = receive(nanos);
		Object last = (command.next() != null) ? receive(command.next(), nanos) : reply;
		return (reply instanceof RuntimeException) ? reply : last;
	}

	private @Nullable Object receive(long nanos) {
		limit(nanos);
		try {
			return withoutError(this.connection.getOne());
		}
		catch (JedisDataException ex) {
			return translated(ex);
		}
		catch (RuntimeException ex) {
			throw translated(ex);
		}
		finally {
			unguard();
		}
	}

	// As seldom as possible: in a batch, only a reply that takes its time changes it.
	private void limit(long nanos) {
		int millis = (int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos + 999_999));
		if (this.connection.getSoTimeout() != millis) {
			this.connection.setSoTimeout(millis);
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

	static RuntimeException translated(RuntimeException failure) {
		return Objects.requireNonNullElse(EXCEPTIONS.convert(failure), failure);
	}

	static <T> T translating(Supplier<T> opener) {
		try {
			return opener.get();
		}
		catch (JedisException ex) {
			throw translated(ex);
		}
	}

}
