package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.RedisConnectionFailureException;

/**
 * Opens something in the background, for all who want it at the same time, so that nobody
 * waits for it longer than a command may take: behind Sentinels that do not answer it
 * takes several times that. Only the very first may take longer, since a JVM that has
 * just started has the client to load.
 * <p>
 * Invariants: at most one opening is under way. What comes of it is kept by the opener,
 * whether or not anybody still waits.
 *
 * @param <T> the type of what is opened
 */
final class Opening<T> {

	private static final long FIRST_NANOS = TimeUnit.SECONDS.toNanos(5);

	private final SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor("distributed-lock-open-");

	private final Supplier<T> opener;

	private final long timeoutNanos;

	private @Nullable CompletableFuture<T> underWay;

	private boolean first = true;

	Opening(Supplier<T> opener, Duration timeout) {
		this.opener = opener;
		this.timeoutNanos = timeout.toNanos();
		this.threads.setDaemon(true);
	}

	/**
	 * Waits for it.
	 * @return what was opened
	 * @throws UnsentException if it could not be opened in time
	 */
	T await() {
		try {
			return join().get(patience(), TimeUnit.NANOSECONDS);
		}
		catch (TimeoutException ex) {
			throw new UnsentException(new RedisConnectionFailureException("the connection is still being opened", ex));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new UnsentException(
					new RedisConnectionFailureException("interrupted while the connection was being opened", ex));
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof DataAccessException failure) {
				throw new UnsentException(failure);
			}
			throw new IllegalStateException(ex.getCause());
		}
	}

	private synchronized long patience() {
		return this.first ? Math.max(FIRST_NANOS, this.timeoutNanos) : this.timeoutNanos;
	}

	private synchronized CompletableFuture<T> join() {
		CompletableFuture<T> opening = this.underWay;
		if (opening == null) {
			opening = CompletableFuture.supplyAsync(this::open, this.threads);
			this.underWay = opening;
		}
		return opening;
	}

	// Over before anybody is told, so that who asks again then gets another.
	private T open() {
		boolean opened = false;
		try {
			T result = this.opener.get();
			opened = true;
			return result;
		}
		finally {
			ended(opened);
		}
	}

	private synchronized void ended(boolean opened) {
		this.underWay = null;
		this.first &= !opened;
	}

}
