package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.redis.wire.UnsentException;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisConnection;
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

	private final Deque<LettuceBatchSender> idle = new ConcurrentLinkedDeque<>();

	private final Lazy<LettuceConnectionFactory> factory;

	private final long timeoutNanos;

	private final Opening<LettuceBatchSender> opening;

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
		LettuceBatchSender sender = take(end - this.timeoutNanos / 4);
		boolean usable = false;
		try {
			long left = Math.max(end - System.nanoTime(), this.timeoutNanos / 4);
			T answer = step.on(new LettuceLink(sender, left));
			usable = true;
			return answer;
		}
		catch (LockBackendException ex) {
			usable = ex.isNotCarriedOut(); // Then all that was sent was answered.
			throw ex;
		}
		finally {
			if (usable) {
				this.idle.push(sender);
			}
			else {
				sender.close();
			}
		}
	}

	private LettuceBatchSender take(long end) {
		LettuceBatchSender sender = pollIdle();
		while (sender == null) {
			this.opening.await(end - System.nanoTime());
			sender = pollIdle();
			if (sender == null && System.nanoTime() - end > 0) {
				throw new UnsentException(new RedisConnectionFailureException("others took what was opened"));
			}
		}
		return sender;
	}

	private @Nullable LettuceBatchSender pollIdle() {
		LettuceBatchSender sender = this.idle.poll();
		while (sender != null && !sender.isOpen()) {
			sender = this.idle.poll();
		}
		return sender;
	}

	private LettuceBatchSender open() {
		RedisConnection connection = LettuceStart.await(this.factory.get().getConnection());
		LettuceBatchSender sender = LettuceBatchSender.of(connection);
		this.idle.push(sender);
		return sender;
	}

	@Override
	public void close() {
		this.idle.forEach(LettuceBatchSender::close);
		this.factory.end();
	}

}
