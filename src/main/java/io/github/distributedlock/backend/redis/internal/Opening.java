package io.github.distributedlock.backend.redis.internal;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.github.distributedlock.internal.DaemonThreads;
import io.github.distributedlock.internal.Uninterrupted;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;

/**
 * Opens a connection, or another thing, in the background, once for all threads that want
 * one at the same time, so that no thread waits longer than a command timeout: an opening
 * behind Sentinels that do not answer takes several command timeouts. The very first
 * opening may be given more time, since a JVM that has just started has to load the
 * client.
 * <p>
 * An opening may take much longer than a command timeout, on a machine that is busy or
 * where the client's threads are blocked. A connection is therefore opened once more
 * after a command timeout, and again after two and four more, beside the openings that
 * are under way, and the first opening that succeeds serves all threads. So no opening
 * has to begin anew before it could succeed, and an opening that hangs does not stand in
 * the way.
 * <p>
 * Invariants: at most one opening is under way, or {@link #MOST_REPEATED} of a
 * connection. The opener keeps the result, even if no thread waits any more. Threads wait
 * longer only for the first opening, and only until the time of the first opening is
 * over, or that opening has ended in any way. If the process can have no more threads,
 * each waiting thread opens on its own, since no other thread can.
 *
 * @param <T> the type of what is opened
 */
final class Opening<T> {

	/** How many openings of a connection are under way at most. */
	static final int MOST_REPEATED = 4;

	/** The time for the first opening of a backend. */
	static final Duration FIRST = Duration.ofSeconds(5);

	private static final Executor THREADS = DaemonThreads.each("distributed-lock-open");

	private final Executor threads;

	private final Supplier<T> opener;

	private final long timeoutNanos;

	private final long firstNanos;

	private final LongSupplier nanoTime;

	private final int most;

	/**
	 * The result that all threads wait for; {@code null} if no opening has begun since
	 * the last result.
	 */
	private @Nullable CompletableFuture<T> opened;

	private int underWay;

	private long begunAt;

	private boolean firstIsOver;

	private long firstEnd;

	Opening(Supplier<T> opener, Duration timeout) {
		this(opener, timeout, Duration.ZERO);
	}

	/**
	 * Creates an object that has opened nothing.
	 * @param opener opens, and keeps the result
	 * @param timeout the command timeout
	 * @param first how long the very first opening may take, if longer than the timeout
	 */
	Opening(Supplier<T> opener, Duration timeout, Duration first) {
		this(opener, timeout, first, 1, System::nanoTime, THREADS);
	}

	Opening(Supplier<T> opener, Duration timeout, Duration first, int most, LongSupplier nanoTime, Executor threads) {
		this.opener = opener;
		this.most = most;
		this.timeoutNanos = timeout.toNanos();
		this.firstNanos = first.toNanos();
		this.nanoTime = nanoTime;
		this.threads = threads;
	}

	/**
	 * Creates an object that opens a connection, with further attempts as described
	 * above.
	 */
	static <T> Opening<T> repeated(Supplier<T> opener, Duration timeout) {
		return new Opening<>(opener, timeout, Duration.ZERO, MOST_REPEATED, System::nanoTime, THREADS);
	}

	/**
	 * Opens, and waits for the result, even if the thread is interrupted.
	 * @return the result
	 * @throws UnsentException if the opening failed, or did not end in time
	 */
	T await() {
		return await(this.timeoutNanos);
	}

	/**
	 * Opens, and waits for the result, for a caller with less time than a command
	 * timeout.
	 * @param nanos how long to wait at most, in nanoseconds; longer for the very first
	 * opening
	 * @return the result
	 * @throws UnsentException if the opening failed, or did not end in time
	 */
	T await(long nanos) {
		try {
			return Uninterrupted.get(begin(), timeout(nanos));
		}
		catch (TimeoutException ex) {
			throw new UnsentException("the connection is still being opened", ex);
		}
		catch (ExecutionException ex) {
			throw unsent(ex.getCause());
		}
		catch (OutOfMemoryError noThread) {
			return openHere();
		}
	}

	private T openHere() {
		try {
			return this.opener.get();
		}
		catch (RuntimeException ex) {
			throw unsent(ex);
		}
		finally {
			synchronized (this) {
				this.firstIsOver = true;
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
	 * Begins an opening, unless enough openings are under way, and does not wait.
	 * @throws OutOfMemoryError if the process can have no more threads
	 */
	synchronized CompletableFuture<T> begin() {
		CompletableFuture<T> opened = this.opened;
		long now = this.nanoTime.getAsLong();
		boolean first = opened == null;
		if (opened == null) {
			opened = new CompletableFuture<>();
			this.opened = opened;
			// This field is read only until the first opening is over.
			this.firstEnd = now + this.firstNanos;
		}
		boolean due = first || now - this.begunAt >= this.timeoutNanos << Math.max(0, this.underWay - 1);
		if (this.underWay == 0 || (due && this.underWay < this.most)) {
			this.threads.execute(this::open);
			this.begunAt = now;
			this.underWay++;
		}
		return opened;
	}

	private void open() {
		T value = null;
		Throwable failure = null;
		try {
			value = this.opener.get();
		}
		catch (RuntimeException | Error ex) {
			failure = ex;
		}
		CompletableFuture<T> opened = ended(failure == null);
		if (opened != null && failure == null) {
			opened.complete(value);
		}
		else if (opened != null) {
			opened.completeExceptionally(failure);
		}
	}

	/**
	 * Ends one opening. A failure counts once no other opening is under way.
	 * @return the future to complete, which is forgotten before any caller is told, so
	 * that a caller that asks again gets another future; {@code null} if other openings
	 * go on
	 */
	private synchronized @Nullable CompletableFuture<T> ended(boolean succeeded) {
		this.underWay--;
		CompletableFuture<T> opened = this.opened;
		if (!succeeded && this.underWay > 0) {
			return null;
		}
		this.opened = null;
		this.firstIsOver = true;
		return opened;
	}

}
