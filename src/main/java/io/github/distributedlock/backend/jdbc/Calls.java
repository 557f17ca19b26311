package io.github.distributedlock.backend.jdbc;

import java.io.Serial;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.github.distributedlock.internal.DaemonThreads;
import io.github.distributedlock.internal.DurationRange;
import io.github.distributedlock.internal.Uninterrupted;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bounds the time of calls of a driver or a pool, whatever these do.
 * <p>
 * A statement is cancelled at the server after three quarters of the command timeout: a
 * server whose statement hangs does not notice that the client has closed the socket, and
 * keeps the session. A call that may ignore its timeout runs on a thread of this class,
 * and the caller waits for the command timeout only.
 * <p>
 * A call that the caller has given up keeps its thread until the call ends, perhaps for
 * ever. So while many calls hang, only one probe at a time asks for a connection. Once a
 * probe is answered, the calls that hang count no more. Safe for use by many threads.
 */
final class Calls implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(Calls.class);

	private static final int MOST_HANGING = 8;

	private static final int TICKS = 16;

	private static final int TICKS_TO_CANCEL = TICKS * 3 / 4;

	private final long timeoutNanos;

	private final ThreadPoolExecutor workers = new ThreadPoolExecutor(0, Integer.MAX_VALUE, 60, TimeUnit.SECONDS,
			new SynchronousQueue<>(), DaemonThreads.named("distributed-lock-call"));

	private final ScheduledThreadPoolExecutor clock = new ScheduledThreadPoolExecutor(1,
			DaemonThreads.named("distributed-lock-cancel"));

	/**
	 * Cancels statements one after the other, since most drivers open a further session
	 * for a cancellation. A cancellation may open a connection, and may hang, too.
	 */
	private final ThreadPoolExecutor cancellations = new ThreadPoolExecutor(0, 1, 60, TimeUnit.SECONDS,
			new LinkedBlockingQueue<>(), DaemonThreads.named("distributed-lock-cancel"));

	/**
	 * The number of calls that go on though their callers have given them up.
	 */
	private volatile AtomicInteger hanging = new AtomicInteger();

	private final Probes probes;

	private final Set<Execution> executions = ConcurrentHashMap.newKeySet();

	/**
	 * {@code true} while a next look at the executions is scheduled, as always while
	 * there are executions.
	 */
	private final AtomicBoolean ticking = new AtomicBoolean();

	Calls(Duration timeout) {
		this.timeoutNanos = timeout.toNanos();
		this.probes = new Probes(timeout);
	}

	/**
	 * Gets a connection by a {@linkplain #call call}. While many calls hang, only a probe
	 * that is due gets a connection; other callers fail at once.
	 */
	<T> T connect(Callable<T> task, Consumer<@Nullable T> late) throws SQLException {
		int hanging = this.hanging.get();
		if (hanging < MOST_HANGING) {
			return call("get a connection", 1, task, late);
		}
		if (!this.probes.tryBegin()) {
			throw new NoAnswerException(
					hanging + " calls of the pool or the driver hang, so there is no further attempt"
							+ " to get a connection now");
		}
		boolean answered = true;
		try {
			return call("get a connection", 1, task, late);
		}
		catch (NoAnswerException ex) {
			answered = false;
			throw ex;
		}
		finally {
			if (answered) {
				this.hanging = new AtomicInteger();
			}
			this.probes.end(answered);
		}
	}

	/**
	 * Makes a call on a thread of this class. The caller waits for the given command
	 * timeouts at most, even if interrupted.
	 * @param what the words for the call, as after "an attempt to"
	 * @param commands how many command timeouts the caller waits
	 * @param task the call
	 * @param late gets the result if the result comes when the caller waits no more, or
	 * {@code null} if the call fails then
	 * @throws NoAnswerException if the call has not ended in time
	 */
	<T extends @Nullable Object> T call(String what, int commands, Callable<T> task, Consumer<@Nullable T> late)
			throws SQLException {
		CompletableFuture<T> answer = new CompletableFuture<>();
		CompletableFuture<Void> end;
		try {
			end = CompletableFuture.runAsync(() -> answer(task, answer, late), this.workers);
		}
		catch (RuntimeException | OutOfMemoryError ex) {
			throw new SQLException((this.workers.isShutdown() ? "The store is closed, so there is no attempt to "
					: "There is no thread to ") + what, "53000", ex);
		}
		try {
			Uninterrupted.get(answer, commands * this.timeoutNanos);
		}
		catch (TimeoutException ex) {
			// Without effect on an answer that has just come.
			answer.completeExceptionally(new NoAnswerException(
					"No answer in " + DurationRange.text(Duration.ofNanos(commands * this.timeoutNanos))
							+ " to an attempt to " + what));
		}
		catch (ExecutionException ex) {
			// Thrown below, as what the call has thrown.
		}
		try {
			return answer.join();
		}
		catch (CompletionException ex) {
			Throwable cause = ex.getCause();
			if (cause instanceof NoAnswerException) {
				AtomicInteger count = this.hanging;
				count.incrementAndGet();
				end.whenComplete((nothing, none) -> count.decrementAndGet());
			}
			if (cause instanceof SQLException failure) {
				throw failure;
			}
			if (cause instanceof RuntimeException failure) {
				throw failure;
			}
			if (cause instanceof Error failure) {
				throw failure;
			}
			throw new SQLException(cause);
		}
	}

	private static <T extends @Nullable Object> void answer(Callable<T> task, CompletableFuture<T> answer,
			Consumer<@Nullable T> late) {
		try {
			T result = task.call();
			if (!answer.complete(result)) {
				late.accept(result);
			}
		}
		catch (Exception | Error ex) {
			if (!answer.completeExceptionally(ex)) {
				late.accept(null);
			}
		}
	}

	/**
	 * Starts a task that nobody waits for.
	 */
	void start(Runnable task) {
		start(task, this.workers);
	}

	private static void start(Runnable task, Executor threads) {
		try {
			threads.execute(task);
		}
		catch (RuntimeException | OutOfMemoryError ex) {
			logger.debug("There is no thread for a call of the driver", ex);
		}
	}

	/**
	 * Watches a statement, and cancels the statement at the server if it runs for too
	 * long.
	 * @return the execution, which the caller has to end when the statement has ended
	 */
	Execution begin(Cancellation cancellation) {
		Execution execution = new Execution(cancellation);
		this.executions.add(execution);
		if (this.ticking.compareAndSet(false, true)) {
			scheduleTick();
		}
		return execution;
	}

	private void scheduleTick() {
		try {
			this.clock.schedule(this::tick, Math.max(1, this.timeoutNanos / TICKS), TimeUnit.NANOSECONDS);
		}
		catch (RuntimeException | OutOfMemoryError ex) {
			this.ticking.set(false);
			logger.debug("A statement that hangs is not cancelled, but its connection is closed", ex);
		}
	}

	private void tick() {
		this.executions.forEach(Execution::grow);
		if (this.executions.isEmpty()) {
			this.ticking.set(false);
			// An execution may have begun just before.
			if (this.executions.isEmpty() || !this.ticking.compareAndSet(false, true)) {
				return;
			}
		}
		scheduleTick();
	}

	/**
	 * Ends the threads, except those whose calls still go on.
	 */
	@Override
	public void close() {
		this.clock.shutdownNow();
		this.cancellations.shutdown();
		this.workers.shutdown();
	}

	/**
	 * Thrown if the caller waits no more, and the call still goes on.
	 */
	static final class NoAnswerException extends SQLTimeoutException {

		@Serial
		private static final long serialVersionUID = 1L;

		NoAnswerException(String message) {
			super(message, "08007");
		}

	}

	/**
	 * Cancels a statement. Any thread may call this method, not only the thread of the
	 * statement.
	 */
	interface Cancellation {

		void cancel() throws SQLException;

	}

	/**
	 * A statement that is being carried out.
	 */
	final class Execution {

		private final Cancellation cancellation;

		private final AtomicInteger age = new AtomicInteger();

		private Execution(Cancellation cancellation) {
			this.cancellation = cancellation;
		}

		private void grow() {
			if (this.age.incrementAndGet() == TICKS_TO_CANCEL) {
				start(this::cancel, Calls.this.cancellations);
			}
		}

		private void cancel() {
			if (!Calls.this.executions.contains(this)) {
				return; // Ended while another statement was being cancelled.
			}
			try {
				this.cancellation.cancel();
			}
			catch (SQLException | RuntimeException | LinkageError ex) {
				logger.debug("A statement that hangs was not cancelled", ex);
			}
		}

		/**
		 * Ends the watch.
		 * @return whether a cancellation has begun, which may still meet the next
		 * statement of the same connection
		 */
		boolean end() {
			Calls.this.executions.remove(this);
			return this.age.getAndSet(TICKS_TO_CANCEL) >= TICKS_TO_CANCEL;
		}

	}

}
