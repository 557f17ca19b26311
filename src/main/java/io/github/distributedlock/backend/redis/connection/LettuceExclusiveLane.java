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

	private final Deque<LettuceWire> idle = new ConcurrentLinkedDeque<>();

	private final Lazy<LettuceConnectionFactory> factory;

	private final long timeoutNanos;

	private final Opening<LettuceWire> opening;

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
		LettuceWire wire = take(end - this.timeoutNanos / 4);
		boolean usable = false;
		try {
			long left = Math.max(end - System.nanoTime(), this.timeoutNanos / 4);
			T answer = step.on(new LettuceLink(wire, left));
			usable = true;
			return answer;
		}
		catch (LockBackendException ex) {
			usable = ex.isNotCarriedOut(); // Then all that was sent was answered.
			throw ex;
		}
		finally {
			if (usable) {
				this.idle.push(wire);
			}
			else {
				wire.close();
			}
		}
	}

	private LettuceWire take(long end) {
		LettuceWire wire = pollIdle();
		while (wire == null) {
			this.opening.await(end - System.nanoTime());
			wire = pollIdle();
			if (wire == null && System.nanoTime() - end > 0) {
				throw new UnsentException(new RedisConnectionFailureException("others took what was opened"));
			}
		}
		return wire;
	}

	private @Nullable LettuceWire pollIdle() {
		LettuceWire wire = this.idle.poll();
		while (wire != null && !wire.isOpen()) {
			wire = this.idle.poll();
		}
		return wire;
	}

	private LettuceWire open() {
		RedisConnection connection = LettuceStart.await(this.factory.get().getConnection());
		LettuceWire wire = LettuceWire.of(connection);
		this.idle.push(wire);
		return wire;
	}

	@Override
	public void close() {
		this.idle.forEach(LettuceWire::close);
		this.factory.end();
	}

}
