package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.dao.DataAccessException;

/**
 * Opens something in the background, for all that want it at the same time, so that none
 * waits for it longer than a command timeout: behind Sentinels that do not answer it
 * takes several of them. The very first may be given longer, since a JVM that has just
 * started has the client to load.
 * <p>
 * Invariants: at most one opening is under way. What comes of it is kept by the opener,
 * even if no thread waits any more. Only the first opening is waited for longer, and only
 * until its time is over, or it has ended in any way. If the process can have no more
 * threads, each thread that waits opens on its own, since it can wait for no other.
 *
 * @param <T> the type of what is opened
 */
final class Opening<T> {

	/** For the first opening of a backend. */
	static final Duration FIRST = Duration.ofSeconds(5);

	private final Executor threads;

	private final Supplier<T> opener;

	private final long timeoutNanos;

	private final long firstNanos;

	private final LongSupplier nanoTime;

	private @Nullable CompletableFuture<T> underWay;

	private boolean firstIsOver;

	private long firstEnd;

	Opening(Supplier<T> opener, Duration timeout) {
		this(opener, timeout, Duration.ZERO);
	}

	/**
	 * Creates it, with nothing opened.
	 * @param opener opens
	 * @param timeout the command timeout
	 * @param first how long the very first may take, if that is longer
	 */
	Opening(Supplier<T> opener, Duration timeout, Duration first) {
		this(opener, timeout, first, System::nanoTime, threads());
	}

	Opening(Supplier<T> opener, Duration timeout, Duration first, LongSupplier nanoTime, Executor threads) {
		this.opener = opener;
		this.timeoutNanos = timeout.toNanos();
		this.firstNanos = first.toNanos();
		this.nanoTime = nanoTime;
		this.threads = threads;
	}

	private static Executor threads() {
		SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor("distributed-lock-open-");
		threads.setDaemon(true);
		return threads;
	}

	/**
	 * Waits for it.
	 * @return what was opened
	 * @throws UnsentException if it could not be opened in time
	 */
	T await() {
		return await(this.timeoutNanos);
	}

	/**
	 * Waits for it, if less time is left.
	 * @param nanos how long at most, unless it is the very first
	 * @return what was opened
	 * @throws UnsentException if it could not be opened in time
	 */
	T await(long nanos) {
		try {
			return begin().get(timeout(nanos), TimeUnit.NANOSECONDS);
		}
		catch (TimeoutException ex) {
			throw new UnsentException("the connection is still being opened", ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new UnsentException("interrupted while the connection was being opened", ex);
		}
		catch (ExecutionException ex) {
			throw unsent(ex.getCause());
		}
		catch (OutOfMemoryError noThread) {
			try {
				return open();
			}
			catch (RuntimeException ex) {
				throw unsent(ex);
			}
		}
	}

	private static RuntimeException unsent(@Nullable Throwable failure) {
		return (failure instanceof DataAccessException known) ? new UnsentException(known)
				: new IllegalStateException(failure);
	}

	synchronized long timeout(long nanos) {
		long rest = Math.min(nanos, this.timeoutNanos);
		return this.firstIsOver ? rest : Math.max(rest, this.firstEnd - this.nanoTime.getAsLong());
	}

	/**
	 * Begins it, unless it is under way, and does not wait.
	 * @throws OutOfMemoryError if the process can have no more threads
	 */
	synchronized CompletableFuture<T> begin() {
		CompletableFuture<T> opening = this.underWay;
		if (opening == null) {
			opening = CompletableFuture.supplyAsync(this::open, this.threads);
			this.underWay = opening;
			// Read only until the first is over.
			this.firstEnd = this.nanoTime.getAsLong() + this.firstNanos;
		}
		return opening;
	}

	// Over before any caller is told, so that one that asks again then gets another.
	private T open() {
		try {
			return this.opener.get();
		}
		finally {
			ended();
		}
	}

	private synchronized void ended() {
		this.underWay = null;
		this.firstIsOver = true;
	}

}
