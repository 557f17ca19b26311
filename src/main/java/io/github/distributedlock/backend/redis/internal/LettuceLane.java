package io.github.distributedlock.backend.redis.internal;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.QueryTimeoutException;

/**
 * One Lettuce connection that all threads share.
 * <p>
 * The connection does not reconnect by itself. A thread that finds the connection closed
 * has another one opened. An open connection is closed if no command got a reply in a
 * whole command timeout: nothing else tells that a connection was dropped silently. A
 * connection is also closed if the server says that the server is no master any more.
 */
final class LettuceLane implements Lane {

	private final Supplier<LettuceLink> opener;

	private final Opening<LettuceLink> opening;

	private final AtomicReference<@Nullable LettuceLink> link = new AtomicReference<>();

	private volatile boolean closed;

	/**
	 * Creates a lane that is not open.
	 */
	LettuceLane(Supplier<LettuceLink> opener, Duration timeout) {
		this.opener = opener;
		this.opening = Opening.repeated(this::open, timeout);
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
				boolean useless = link != null && (ex.contains(QueryTimeoutException.class) && link.isSilent()
						|| RedisRefusal.READONLY.isIn(ex));
				// Another thread may have opened a new connection meanwhile, which stays.
				if (useless && this.link.compareAndSet(link, null)) {
					Objects.requireNonNull(link).close();
				}
				throw ex;
			}
		});
	}

	/**
	 * Opens the connection, unless the connection is open. If several connections are
	 * opened at the same time, the first one is kept.
	 */
	private LettuceLink open() {
		LettuceLink before = this.link.get();
		if (before != null && before.isUsable(0, 0)) {
			return before;
		}
		LettuceLink opened = this.opener.get();
		while (!this.link.compareAndSet(before, opened)) {
			before = this.link.get();
			if (before != null && before.isUsable(0, 0)) {
				opened.close();
				return before;
			}
		}
		if (before != null) {
			before.close();
		}
		if (this.closed) {
			opened.close();
			throw new IllegalStateException("the lock backend is closed");
		}
		return opened;
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
