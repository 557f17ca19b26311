package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

import io.github.distributedlock.backend.redis.wire.RedisRefusal;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * One Lettuce connection that all threads share, as Lettuce multiplexes commands.
 * <p>
 * It does not reconnect by itself. A thread that finds it closed has another one opened.
 * The command then has what that leaves of one command timeout, but no less than a
 * quarter.
 * <p>
 * An open connection is not closed, unless a command on it got no answer in a whole
 * command timeout, as nothing else tells a connection that was dropped silently, or the
 * server says that it is no master any more. The opening of the next one closes it.
 * Answers come in order, so the others' commands on it wait behind the one that timed
 * out. A cluster connection is left alone.
 */
final class LettuceLane implements Lane {

	private final Lazy<LettuceConnectionFactory> factory;

	private final long timeoutNanos;

	private final Opening<Shared> opening;

	private final AtomicReference<@Nullable Shared> shared = new AtomicReference<>();

	LettuceLane(Lazy<LettuceConnectionFactory> factory, Duration timeout) {
		this.factory = factory;
		this.timeoutNanos = timeout.toNanos();
		this.opening = new Opening<>(this::open, timeout);
	}

	@Override
	public <T> @Nullable T run(Step<T> step) {
		// Lettuce does not wait for an answer in a thread that is interrupted already, so
		// such a thread could not even give its lock back.
		boolean interrupted = Thread.interrupted();
		try {
			Shared shared = this.shared.get();
			if (shared != null && shared.isOpen()) {
				return run(step, shared);
			}
			long begin = System.nanoTime();
			Shared opened = this.opening.await();
			long left = this.timeoutNanos - (System.nanoTime() - begin);
			// Whatever comes of this, the connection stays: it is new.
			return step.on(LettuceLink.of(opened.connection, Math.max(left, this.timeoutNanos / 4)));
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private <T> @Nullable T run(Step<T> step, Shared shared) {
		try {
			return step.on(LettuceLink.of(shared.connection, this.timeoutNanos));
		}
		catch (DataAccessException ex) {
			boolean useless = ex.contains(QueryTimeoutException.class) || RedisRefusal.READONLY.isIn(ex);
			// Not one that another thread has opened meanwhile.
			if (useless && shared.channel != null) {
				this.shared.compareAndSet(shared, null);
			}
			throw ex;
		}
	}

	private Shared open() {
		Shared shared = this.shared.get();
		if (shared != null && shared.isOpen()) {
			return shared;
		}
		LettuceConnectionFactory factory = this.factory.get();
		factory.resetConnection(); // Closes the one before.
		shared = Shared.over(factory);
		this.shared.set(shared);
		return shared;
	}

	@Override
	public void close() {
		this.factory.end();
		this.shared.set(null);
	}

	/**
	 * Spring Data's connection has no state of its own as long as no transaction,
	 * pipeline or subscription begins on it, so threads may share it.
	 *
	 * @param connection the connection
	 * @param channel what is under it, if its end can be seen; a cluster connection takes
	 * care of itself
	 */
	private record Shared(RedisConnection connection, @Nullable StatefulRedisConnection<byte[], byte[]> channel) {

		@SuppressWarnings({ "deprecation", "unchecked" }) // What replaces it exists only
															// for other kinds.
		static Shared over(LettuceConnectionFactory factory) {
			RedisConnection connection = LettuceStart.await(factory.getConnection());
			return new Shared(connection,
					(connection.getNativeConnection() instanceof RedisAsyncCommands<?, ?> commands)
							? ((RedisAsyncCommands<byte[], byte[]>) commands).getStatefulConnection() : null);
		}

		boolean isOpen() {
			return this.channel == null || this.channel.isOpen();
		}

	}

}
