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

import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * A few Lettuce connections, each of which serves one step at a time. Apart from the one
 * that all threads share, which a WAIT would block for all of them.
 * <p>
 * Waiting for a free connection, opening one and the commands together take one command
 * timeout. A connection on which a command failed is closed.
 */
final class LettuceAckLane implements AckLane {

	private static final int CONNECTIONS = 8;

	private final Semaphore free = new Semaphore(CONNECTIONS, true);

	private final Deque<StatefulRedisConnection<byte[], byte[]>> idle = new ConcurrentLinkedDeque<>();

	private final Lazy<LettuceConnectionFactory> factory;

	private final long timeoutNanos;

	LettuceAckLane(Lazy<LettuceConnectionFactory> factory, Duration timeout) {
		this.factory = factory;
		this.timeoutNanos = timeout.toNanos();
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
		StatefulRedisConnection<byte[], byte[]> channel = take();
		boolean usable = false;
		try {
			long millis = Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime()));
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

	private StatefulRedisConnection<byte[], byte[]> take() {
		StatefulRedisConnection<byte[], byte[]> channel = this.idle.poll();
		while (channel != null && !channel.isOpen()) {
			channel = this.idle.poll();
		}
		try {
			return (channel != null) ? channel : open();
		}
		catch (DataAccessException ex) {
			throw new UnsentException(ex);
		}
	}

	@SuppressWarnings({ "deprecation", "unchecked" }) // See LettuceLane.
	private StatefulRedisConnection<byte[], byte[]> open() {
		Object commands = this.factory.get().getConnection().getNativeConnection();
		return ((RedisAsyncCommands<byte[], byte[]>) commands).getStatefulConnection();
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
