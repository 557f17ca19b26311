package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;

import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * One Lettuce connection that all threads share, as Lettuce multiplexes commands.
 * <p>
 * It does not reconnect by itself. Whoever finds it closed opens another; the others wait
 * for that no longer than one command timeout, even if the server does not answer at all.
 * <p>
 * Nobody closes a connection that is open, unless a command on it got no answer in time,
 * as nothing else tells a connection that was dropped silently. Who opens the next closes
 * that one. Answers come in order, so the others' commands on it wait behind the one that
 * timed out. A cluster connection is left alone.
 */
final class LettuceLane implements Lane {

	private final Lazy<LettuceConnectionFactory> factory;

	private final long timeoutNanos;

	private final ReentrantLock opening = new ReentrantLock();

	private final AtomicReference<@Nullable Link> link = new AtomicReference<>();

	LettuceLane(Lazy<LettuceConnectionFactory> factory, Duration timeout) {
		this.factory = factory;
		this.timeoutNanos = timeout.toNanos();
	}

	@Override
	public <T> @Nullable T run(Command<T> command) {
		// Lettuce does not wait for an answer in a thread that is interrupted already, so
		// such a thread could not even give its lock back.
		boolean interrupted = Thread.interrupted();
		try {
			Link link = this.link.get();
			return run(command, (link != null && link.isOpen()) ? link : reopen());
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private <T> @Nullable T run(Command<T> command, Link link) {
		try {
			return command.on(link.connection);
		}
		catch (QueryTimeoutException ex) {
			// Not one that another thread has opened meanwhile.
			if (link.channel != null) {
				this.link.compareAndSet(link, null);
			}
			throw ex;
		}
	}

	private Link reopen() {
		try {
			return open();
		}
		catch (DataAccessException ex) {
			throw new UnsentException(ex);
		}
	}

	private Link open() {
		try {
			if (!this.opening.tryLock(this.timeoutNanos, TimeUnit.NANOSECONDS)) {
				throw new RedisConnectionFailureException("the connection is still being opened");
			}
		}
		catch (InterruptedException ex) {
			throw new RedisConnectionFailureException("interrupted while the connection was being opened", ex);
		}
		try {
			Link link = this.link.get();
			if (link != null && link.isOpen()) {
				return link;
			}
			LettuceConnectionFactory factory = this.factory.get();
			factory.resetConnection(); // Closes the one before.
			link = Link.over(factory.getConnection());
			this.link.set(link);
			return link;
		}
		finally {
			this.opening.unlock();
		}
	}

	@Override
	public void close() {
		this.factory.end();
		this.link.set(null);
	}

	/**
	 * Spring Data's connection has no state of its own as long as nobody begins a
	 * transaction, a pipeline or a subscription, so threads may share it.
	 *
	 * @param connection the connection
	 * @param channel what is under it, if its end can be seen; a cluster connection takes
	 * care of itself
	 */
	private record Link(RedisConnection connection, @Nullable StatefulConnection<?, ?> channel) {

		@SuppressWarnings("deprecation") // What replaces it exists only for other kinds.
		static Link over(RedisConnection connection) {
			return new Link(connection, (connection.getNativeConnection() instanceof RedisAsyncCommands<?, ?> commands)
					? commands.getStatefulConnection() : null);
		}

		boolean isOpen() {
			return this.channel == null || this.channel.isOpen();
		}

	}

}
