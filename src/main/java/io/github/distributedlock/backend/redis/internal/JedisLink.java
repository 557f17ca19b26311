package io.github.distributedlock.backend.redis.internal;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import io.github.distributedlock.internal.DaemonThreads;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

import org.springframework.data.redis.connection.jedis.JedisExceptionConverter;

/**
 * A Jedis connection, for one thread at a time.
 */
final class JedisLink extends PooledLane.Pooled implements Combiner.Wire {

	private static final Logger logger = LoggerFactory.getLogger(JedisLink.class);

	/**
	 * How long a connection may be idle without a check. The check is a PING, which takes
	 * a round trip.
	 */
	private static final long CHECK_IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);

	private static final JedisExceptionConverter EXCEPTIONS = new JedisExceptionConverter();

	/**
	 * How many bytes are sent without a guard. A connection takes in so many bytes even
	 * while the server reads nothing. Sending more may block.
	 */
	private static final int UNGUARDED_BYTES = 32_768;

	private final Connection connection;

	private final Runnable abort;

	private final long timeoutNanos;

	private final BooleanSupplier leadsToMaster;

	/** The number of bytes that were sent since the last reply. */
	private int unanswered;

	/** The guard, which aborts the connection unless cancelled in time. */
	private @Nullable Future<?> guard;

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

	// A connection that the server, or a device on the way, has closed meanwhile shows
	// that only when used, and a command must not be sent twice.
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
			return true; // A refusal of PING is an answer, too.
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
			// The message may be the server's answer to an earlier command.
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

	// No timeout of a socket ends a thread that is stuck in sending, so a guard aborts
	// the connection after two command timeouts.
	private void guard(Command command) {
		this.unanswered += command.bytes();
		if (this.unanswered > UNGUARDED_BYTES && this.guard == null) {
			this.guard = DaemonThreads.delay(this.abort, 2 * this.timeoutNanos);
		}
	}

	private void unguard() {
		this.unanswered = 0;
		if (this.guard != null) {
			this.guard.cancel(false);
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

	// The timeout is set as seldom as possible: in a batch, only a slow reply changes the
	// timeout.
	private void limit(long nanos) {
		int millis = (int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos + 999_999));
		if (this.connection.getSoTimeout() != millis) {
			this.connection.setSoTimeout(millis);
		}
	}

	// Throws the first error among the replies of a transaction.
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
