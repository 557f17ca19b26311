package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockBackendException;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerOutput;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * A few Lettuce connections, each of which serves one step at a time. Apart from the one
 * that all threads share, which a WAIT would block for all of them.
 * <p>
 * Waiting for a free connection, opening one and the commands together take one command
 * timeout, but the commands have no less than a quarter of it. A connection on which a
 * command failed is closed. One that was opened is idle first, for whoever is quicker.
 */
final class LettuceAckLane implements AckLane {

	private static final int CONNECTIONS = 8;

	private final Semaphore free = new Semaphore(CONNECTIONS, true);

	private final Deque<StatefulRedisConnection<byte[], byte[]>> idle = new ConcurrentLinkedDeque<>();

	private final Lazy<LettuceConnectionFactory> factory;

	private final long timeoutNanos;

	private final Opening<StatefulRedisConnection<byte[], byte[]>> opening;

	LettuceAckLane(Lazy<LettuceConnectionFactory> factory, Duration timeout) {
		this.factory = factory;
		this.timeoutNanos = timeout.toNanos();
		this.opening = new Opening<>(this::open, timeout);
	}

	@Override
	public <T> @Nullable T run(Command<T> command) {
		// See LettuceLane.
		boolean interrupted = Thread.interrupted();
		try {
			long end = System.nanoTime() + this.timeoutNanos;
			if (!this.free.tryAcquire(this.timeoutNanos, TimeUnit.NANOSECONDS)) {
				throw new UnsentException(new RedisConnectionFailureException(
						"all " + CONNECTIONS + " connections that may wait for replicas are in use"));
			}
			try {
				return run(command, end);
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

	private <T> @Nullable T run(Command<T> command, long end) {
		StatefulRedisConnection<byte[], byte[]> channel = take(end);
		boolean usable = false;
		try {
			long left = Math.max(end - System.nanoTime(), this.timeoutNanos / 4);
			long millis = Math.max(1, TimeUnit.NANOSECONDS.toMillis(left));
			T answer = command
				.on(new LettuceConnection(channel, millis, (RedisClient) this.factory.get().getRequiredNativeClient()));
			usable = true;
			return answer;
		}
		catch (LockBackendException ex) {
			usable = true; // The replicas failed, not the connection.
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
			this.opening.await();
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
		Object commands = this.factory.get().getConnection().getNativeConnection();
		StatefulRedisConnection<byte[], byte[]> channel = ((RedisAsyncCommands<byte[], byte[]>) commands)
			.getStatefulConnection();
		this.idle.push(channel);
		return channel;
	}

	@Override
	public long awaitReplicas(RedisConnection connection, int replicas, Duration timeout) {
		Object answer = ((LettuceConnection) connection).execute("WAIT", new IntegerOutput<>(ByteArrayCodec.INSTANCE),
				KeyNames.bytes(String.valueOf(replicas)), KeyNames.bytes(String.valueOf(timeout.toMillis())));
		return (answer instanceof Long acknowledged) ? acknowledged : 0;
	}

	@Override
	public void close() {
		this.idle.forEach(StatefulRedisConnection::closeAsync);
		this.factory.end();
	}

}
