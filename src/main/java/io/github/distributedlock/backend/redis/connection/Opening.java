package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;

/**
 * Opens something in the background, for all that want it at the same time, so that none
 * waits for it longer than a command timeout: behind Sentinels that do not answer it
 * takes several of them. The very first may be given longer, since a JVM that has just
 * started has the client to load.
 * <p>
 * An opening may take much longer than a command timeout, on a machine that is busy or
 * where the client's threads are blocked. A connection is therefore opened once more
 * after a command timeout, and again after two and four more, beside the openings that
 * are under way, and the first that succeeds serves all. So none has to begin anew before
 * it could succeed, and one that hangs does not stand in the way.
 * <p>
 * Invariants: at most one opening is under way, or {@link #MOST_REPEATED} of a
 * connection. What comes of it is kept by the opener, even if no thread waits any more.
 * Only the first opening is waited for longer, and only until its time is over, or it has
 * ended in any way. If the process can have no more threads, each thread that waits opens
 * on its own, since it can wait for no other.
 *
 * @param <T> the type of what is opened
 */
final class Opening<T> {

	/** How many openings of a connection are under way at most. */
	static final int MOST_REPEATED = 4;

	/** For the first opening of a backend. */
	static final Duration FIRST = Duration.ofSeconds(5);

	private final Executor threads;

	private final Supplier<T> opener;

	private final long timeoutNanos;

	private final long firstNanos;

	private final LongSupplier nanoTime;

	private final int most;

	/** What all wait for; {@code null} if none has begun since the last success. */
	private @Nullable CompletableFuture<T> opened;

	private int underWay;

	private long begunAt;

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
		this(opener, timeout, first, 1, System::nanoTime, threads());
	}

	Opening(Supplier<T> opener, Duration timeout, Duration first, int most, LongSupplier nanoTime, Executor threads) {
		this.opener = opener;
		this.most = most;
		this.timeoutNanos = timeout.toNanos();
		this.firstNanos = first.toNanos();
		this.nanoTime = nanoTime;
		this.threads = threads;
	}

	private static Executor threads() {
		return DaemonThreads.each("distributed-lock-open");
	}

	/**
	 * Opens a connection, which is begun again after each command timeout.
	 */
	static <T> Opening<T> repeated(Supplier<T> opener, Duration timeout) {
		return new Opening<>(opener, timeout, Duration.ZERO, MOST_REPEATED, System::nanoTime, threads());
	}

	/**
	 * Waits for it, also if the thread is interrupted.
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
	 * Begins it, unless enough openings are under way, and does not wait.
	 * @throws OutOfMemoryError if the process can have no more threads
	 */
	synchronized CompletableFuture<T> begin() {
		CompletableFuture<T> opened = this.opened;
		long now = this.nanoTime.getAsLong();
		boolean first = opened == null;
		if (opened == null) {
			opened = new CompletableFuture<>();
			this.opened = opened;
			// Read only until the first is over.
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
	 * @return what is over with it before any caller is told, so that a caller that asks
	 * again gets another; {@code null} if nothing is
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
