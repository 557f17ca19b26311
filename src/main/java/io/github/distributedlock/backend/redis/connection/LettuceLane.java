package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

import io.github.distributedlock.backend.redis.wire.RedisRefusal;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * One Lettuce connection that all threads share, by a {@link LettuceBatches}.
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

	private final Opening<LettuceLink> opening;

	private final AtomicReference<@Nullable LettuceLink> link = new AtomicReference<>();

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
			LettuceLink link = this.link.get();
			if (link != null && link.sender().isOpen()) {
				return run(step, link);
			}
			long begin = System.nanoTime();
			LettuceLink opened = this.opening.await();
			long left = this.timeoutNanos - (System.nanoTime() - begin);
			// Whatever comes of this, the connection stays: it is new.
			return step.on(opened.within(Math.max(left, this.timeoutNanos / 4)));
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private <T> @Nullable T run(Step<T> step, LettuceLink link) {
		try {
			return step.on(link);
		}
		catch (DataAccessException ex) {
			boolean useless = ex.contains(QueryTimeoutException.class) || RedisRefusal.READONLY.isIn(ex);
			// Not one that another thread has opened meanwhile.
			if (useless && !link.isCluster()) {
				this.link.compareAndSet(link, null);
			}
			throw ex;
		}
	}

	private LettuceLink open() {
		LettuceLink link = this.link.get();
		if (link != null && link.sender().isOpen()) {
			return link;
		}
		LettuceConnectionFactory factory = this.factory.get();
		factory.resetConnection(); // Closes the one before.
		link = LettuceLink.of(LettuceStart.await(factory.getConnection()), this.timeoutNanos);
		this.link.set(link);
		return link;
	}

	@Override
	public void close() {
		this.factory.end();
		this.link.set(null);
	}

}
