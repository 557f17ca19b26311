package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.QueryTimeoutException;

/**
 * One Lettuce connection that all threads share.
 * <p>
 * It does not reconnect by itself. A thread that finds it closed has another one opened.
 * An open one is closed if a command on it got no answer in a whole command timeout, as
 * nothing else tells a connection that was dropped silently, or if the server says that
 * it is no master any more. Answers come in order, so the others' commands on it wait
 * behind the one that timed out. A cluster's is left alone.
 */
final class LettuceLane implements Lane {

	private final Supplier<LettuceLink> opener;

	private final Runnable onFailure;

	private final Opening<LettuceLink> opening;

	private final AtomicReference<@Nullable LettuceLink> link = new AtomicReference<>();

	private volatile boolean closed;

	/**
	 * Creates it, not open.
	 * @param onFailure what is to be done after a failure, without waiting
	 */
	LettuceLane(Supplier<LettuceLink> opener, Duration timeout, Runnable onFailure) {
		this.opener = opener;
		this.onFailure = onFailure;
		this.opening = new Opening<>(this::open, timeout);
	}

	@Override
	public <T> @Nullable T run(Function<Link, @Nullable T> step) {
		return Lane.withoutInterrupt(() -> {
			LettuceLink link = this.link.get();
			try {
				link = (link != null && link.isUsable(0, 0)) ? link : this.opening.await();
				return step.apply(link);
			}
			catch (DataAccessException ex) {
				boolean useless = ex.contains(QueryTimeoutException.class) || RedisRefusal.READONLY.isIn(ex);
				// Not one that another thread has opened meanwhile.
				if (useless && link != null && !link.isCluster() && this.link.compareAndSet(link, null)) {
					link.close();
				}
				this.onFailure.run();
				throw ex;
			}
		});
	}

	/**
	 * Opens the connection, unless it is open.
	 */
	LettuceLink open() {
		LettuceLink before = this.link.get();
		if (before != null && before.isUsable(0, 0)) {
			return before;
		}
		LettuceLink link = this.opener.get();
		this.link.set(link);
		if (before != null) {
			before.close();
		}
		if (this.closed) {
			link.close();
			throw new IllegalStateException("the lock backend is closed");
		}
		return link;
	}

	@Override
	public void close() {
		this.closed = true;
		LettuceLink link = this.link.getAndSet(null);
		if (link != null) {
			link.close();
		}
	}

}
