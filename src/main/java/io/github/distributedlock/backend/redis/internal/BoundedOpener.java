package io.github.distributedlock.backend.redis.internal;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.distributedlock.internal.DaemonThreads;
import io.github.distributedlock.internal.Uninterrupted;
import org.slf4j.LoggerFactory;

import org.springframework.core.task.SimpleAsyncTaskExecutor;

/**
 * Opens and ends connections of a client within a bounded time. Lettuce waits without
 * bound for its event loop, which the application may have blocked; both clients wait for
 * the DNS. A call that hangs keeps its thread until the call ends, and a connection that
 * such a call still opens is closed.
 */
final class BoundedOpener {

	/**
	 * How long a handshake may take at least, whatever the command timeout: on a busy
	 * machine a handshake takes longer than a command.
	 */
	private static final Duration LEAST = Duration.ofSeconds(5);

	private static final Duration LONGEST_END = Duration.ofSeconds(5);

	/**
	 * How many calls of one opener may hang. Further calls are refused, so that threads
	 * do not run out. Each node of a cluster has an opener, so that nodes that cannot be
	 * reached use up no calls of other nodes.
	 */
	private static final int MOST = 32;

	private static final SimpleAsyncTaskExecutor threads = DaemonThreads.each("distributed-lock-connect");

	private final Semaphore free = new Semaphore(MOST);

	private final long nanos;

	/**
	 * Creates an opener.
	 * @param time how long a connection may take to be opened
	 */
	BoundedOpener(Duration time) {
		this.nanos = time.toNanos();
	}

	/**
	 * Returns how long a connection may take to be opened.
	 * @param timeout the command timeout
	 */
	static Duration time(Duration timeout) {
		return (timeout.compareTo(LEAST) < 0) ? LEAST : timeout;
	}

	/**
	 * Opens a connection.
	 * @param closer closes a connection that comes too late
	 * @throws UnsentException if the opening takes too long, is interrupted, or too many
	 * calls hang
	 */
	<C> C open(Supplier<C> opener, Consumer<? super C> closer) {
		if (!this.free.tryAcquire()) {
			throw new UnsentException(MOST + " calls to the client hang that were to open a connection", null);
		}
		CompletableFuture<C> opening = begin(opener).whenComplete((opened, failure) -> this.free.release());
		try {
			return opening.get(this.nanos, TimeUnit.NANOSECONDS);
		}
		catch (TimeoutException ex) {
			opening.thenAccept(closer);
			throw new UnsentException("the client has not opened a connection in time", ex);
		}
		catch (InterruptedException ex) {
			opening.thenAccept(closer);
			Thread.currentThread().interrupt();
			throw new UnsentException("interrupted while a connection was being opened", ex);
		}
		catch (ExecutionException ex) {
			if (ex.getCause() instanceof RuntimeException failure) {
				throw failure;
			}
			throw new IllegalStateException(ex.getCause());
		}
	}

	// If the process can have no more threads, the waiting thread runs the task.
	private static <C> CompletableFuture<C> begin(Supplier<C> action) {
		try {
			return CompletableFuture.supplyAsync(action, threads);
		}
		catch (OutOfMemoryError noThread) {
			return CompletableFuture.supplyAsync(action, Runnable::run);
		}
	}

	/**
	 * Ends a client, and waits for the end for 5 s at most.
	 */
	static void end(Runnable end) {
		try {
			Uninterrupted.get(begin(() -> {
				end.run();
				return true;
			}), LONGEST_END.toNanos());
		}
		catch (ExecutionException | TimeoutException ex) {
			LoggerFactory.getLogger(BoundedOpener.class).debug("The client has not ended yet", ex);
		}
	}

}
