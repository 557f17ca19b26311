package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.redis.wire.UnsentException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * A few Lettuce connections, each of which serves one step at a time. Apart from the one
 * that all threads share, which a WAIT would block for all of them, and on which the
 * commands of a transaction would mix.
 * <p>
 * Waiting for a free connection, opening one and the commands together take one command
 * timeout, but the commands have no less than a quarter of it. A connection on which a
 * command failed is closed. A new one is idle first, for the thread that is quickest.
 */
final class LettuceExclusiveLane implements Lane {

	private static final int CONNECTIONS = 8;

	private final Semaphore free = new Semaphore(CONNECTIONS, true);

	private final Deque<StatefulRedisConnection<byte[], byte[]>> idle = new ConcurrentLinkedDeque<>();

	private final Lazy<LettuceConnectionFactory> factory;

	private final long timeoutNanos;

	private final Opening<StatefulRedisConnection<byte[], byte[]>> opening;

	LettuceExclusiveLane(Lazy<LettuceConnectionFactory> factory, Duration timeout) {
		this.factory = factory;
		this.timeoutNanos = timeout.toNanos();
		this.opening = new Opening<>(this::open, timeout);
	}

	@Override
	public <T> @Nullable T run(Step<T> step) {
		// See LettuceLane.
		boolean interrupted = Thread.interrupted();
		try {
			long end = System.nanoTime() + this.timeoutNanos;
			if (!this.free.tryAcquire(this.timeoutNanos / 4 * 3, TimeUnit.NANOSECONDS)) {
				throw new UnsentException(new RedisConnectionFailureException(
						"all " + CONNECTIONS + " connections of this kind are in use"));
			}
			try {
				return run(step, end);
			}
			finally {
				this.free.release();
			}
		}
		catch (InterruptedException ex) {
			interrupted = true;
			throw new UnsentException(new RedisConnectionFailureException("interrupted before it was sent", ex));
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private <T> @Nullable T run(Step<T> step, long end) {
		StatefulRedisConnection<byte[], byte[]> channel = take(end - this.timeoutNanos / 4);
		boolean usable = false;
		try {
			long left = Math.max(end - System.nanoTime(), this.timeoutNanos / 4);
			T answer = step.on(LettuceLink.of(channel, left));
			usable = true;
			return answer;
		}
		catch (LockBackendException ex) {
			usable = ex.isNotCarriedOut(); // Then all that was sent was answered.
			throw ex;
		}
		finally {
			if (usable) {
				this.idle.push(channel);
			}
			else {
				channel.closeAsync();
			}
		}
	}

	private StatefulRedisConnection<byte[], byte[]> take(long end) {
		StatefulRedisConnection<byte[], byte[]> channel = pollIdle();
		while (channel == null) {
			this.opening.await(end - System.nanoTime());
			channel = pollIdle();
			if (channel == null && System.nanoTime() - end > 0) {
				throw new UnsentException(new RedisConnectionFailureException("others took what was opened"));
			}
		}
		return channel;
	}

	private @Nullable StatefulRedisConnection<byte[], byte[]> pollIdle() {
		StatefulRedisConnection<byte[], byte[]> channel = this.idle.poll();
		while (channel != null && !channel.isOpen()) {
			channel = this.idle.poll();
		}
		return channel;
	}

	@SuppressWarnings({ "deprecation", "unchecked" }) // See LettuceLane.
	private StatefulRedisConnection<byte[], byte[]> open() {
		Object commands = LettuceStart.await(this.factory.get().getConnection()).getNativeConnection();
		StatefulRedisConnection<byte[], byte[]> channel = ((RedisAsyncCommands<byte[], byte[]>) commands)
			.getStatefulConnection();
		this.idle.push(channel);
		return channel;
	}

	@Override
	public void close() {
		this.idle.forEach(StatefulRedisConnection::closeAsync);
		this.factory.end();
	}

}
