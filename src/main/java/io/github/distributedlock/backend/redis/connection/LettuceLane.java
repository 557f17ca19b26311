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

	private final Supplier<? extends LettuceLink> opener;

	private final Opening<LettuceLink> opening;

	private final AtomicReference<@Nullable LettuceLink> link = new AtomicReference<>();

	private volatile boolean closed;

	LettuceLane(Supplier<? extends LettuceLink> opener, Duration timeout) {
		this.opener = opener;
		this.opening = new Opening<>(this::open, timeout);
	}

	@Override
	public <T> @Nullable T run(Function<Link, @Nullable T> step) {
		return Lane.withoutInterrupt(() -> {
			LettuceLink link = this.link.get();
			LettuceLink usable = (link != null && link.isUsable(0, 0)) ? link : this.opening.await();
			try {
				return step.apply(usable);
			}
			catch (DataAccessException ex) {
				boolean useless = ex.contains(QueryTimeoutException.class) || RedisRefusal.READONLY.isIn(ex);
				// Not one that another thread has opened meanwhile.
				if (useless && !usable.isCluster() && this.link.compareAndSet(usable, null)) {
					usable.close();
				}
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
