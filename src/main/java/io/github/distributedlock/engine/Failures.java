package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.engine.EngineTime.Workers;
import io.github.distributedlock.internal.DurationRange;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs steps that may fail: questions to the store, whose failures become exceptions of
 * the API, steps that are undone, and code of the application. Also formats numbers and
 * names as people read them in messages.
 */
final class Failures {

	private static final Logger logger = LoggerFactory.getLogger(Failures.class);

	/**
	 * The time after which code of the application is warned of.
	 */
	private static final Duration LONG = Duration.ofSeconds(10);

	private Failures() {
	}

	/**
	 * Asks the store in spite of an interrupt, since a client may refuse to work for a
	 * thread that is marked as interrupted.
	 * @param step the name of the question
	 */
	static <T> T call(String step, String key, Supplier<T> question) {
		boolean interrupted = Thread.interrupted();
		try {
			return question.get();
		}
		catch (RuntimeException ex) {
			throw asBackendException(step, key, ex);
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * Asks the store for one answer to each question. Too few, or too many, answers count
	 * as a failure.
	 * @param first the first key
	 * @param number how many answers there are to be
	 */
	static List<Boolean> callEach(String step, String first, int number, Supplier<List<Boolean>> question) {
		return call(step, first, () -> {
			List<Boolean> answers = List.copyOf(question.get());
			if (answers.size() != number) {
				throw new IllegalStateException(answers.size() + " answers to " + number + " questions");
			}
			return answers;
		});
	}

	/**
	 * Returns the exception as it is, or, for a backend that throws an exception that no
	 * backend should throw, wrapped as one whose outcome is not known.
	 */
	static LockBackendException asBackendException(String step, String key, RuntimeException ex) {
		return (ex instanceof LockBackendException known) ? known
				: LockBackendException
					.of("The lock store failed at '" + step + "' of lock '" + LockException.printable(key) + "': " + ex)
					.retryable(true)
					.cause(ex)
					.build();
	}

	/**
	 * Runs code of the application, a listener, an action or an executor, on the calling
	 * thread. What that code throws is logged, and affects no other code.
	 * <p>
	 * That goes for every {@link Throwable}. Kotlin and Lombok throw checked exceptions
	 * from anywhere. A {@link StackOverflowError} has ended with the call that ran too
	 * deep. After an {@link OutOfMemoryError} the other threads go on as well, and here
	 * such an error would cost a caller the handle of a lock that is renewed for ever.
	 * @param what what the code is, for the log
	 * @return {@code false} if the code threw something
	 */
	static boolean run(Runnable code, Supplier<String> what) {
		try {
			code.run();
			return true;
		}
		catch (Throwable ex) {
			caught(ex, what);
			return false;
		}
	}

	/**
	 * Runs code of the application as {@link #run} does. Warns once if the code has not
	 * ended after 10 seconds, with the stack that shows where the code is.
	 * @param what what the code is, for the log
	 * @param workers log the warning, since an appender may block
	 */
	static void runWatched(Runnable code, Supplier<String> what, EngineTime time, Workers workers) {
		Thread thread = Thread.currentThread();
		AtomicBoolean ended = new AtomicBoolean();
		Runnable cancel = () -> {
		};
		try {
			cancel = time.schedule(() -> {
				Throwable position = new Throwable("where thread " + thread.getName() + " is now");
				position.setStackTrace(thread.getStackTrace());
				if (!ended.get()) { // Otherwise the stack is that of other code.
					workers.listener(
							() -> logger.warn(
									"{} has been running for {}; the stack shows where it is."
											+ " Let another thread do what takes long",
									what.get(), text(LONG), position));
				}
			}, LONG.toNanos());
		}
		catch (Throwable noThread) {
			// The code runs unwatched. The timer may have kept the alarm.
		}
		try {
			run(code, what);
		}
		finally {
			ended.set(true);
			cancel.run();
		}
	}

	/**
	 * Logs what code on the calling thread has thrown. The log asks the exception for the
	 * message and the causes, and appenders what to do: that is code of the application,
	 * too.
	 * @param what what the code is
	 */
	static void caught(Throwable failure, Supplier<String> what) {
		if (failure instanceof InterruptedException) {
			Thread.currentThread().interrupt(); // The interrupt was meant for the thread.
		}
		try {
			logger.warn("{} failed", what.get(), failure);
		}
		catch (Throwable ex) {
			// This failure cannot be logged either.
		}
	}

	/**
	 * Runs a step, and if the step throws, runs the undo before the exception is passed
	 * on. Errors count, too: a pool that cannot get a thread throws one, and what was
	 * marked as begun would stay so for ever.
	 */
	static void orUndo(Runnable step, Runnable undo) {
		try {
			step.run();
		}
		catch (Throwable ex) {
			undo.run();
			throw ex;
		}
	}

	/**
	 * Returns the exception for a request that has waited, but not for its own key.
	 */
	static LockBackendException notAttempted(String key, String why, @Nullable String remedy) {
		return LockBackendException.of("Lock '" + LockException.printable(key) + "' was not asked for, since " + why)
			.remedy(remedy)
			.retryable(true)
			.withoutEffect(true)
			.build();
	}

	/**
	 * Returns the exception for a request that has waited while the store failed.
	 */
	static LockBackendException storeFailed(String key, Duration waited, LockBackendException last) {
		return LockBackendException
			.of("Lock '" + LockException.printable(key) + "' could not be acquired in " + text(waited)
					+ ", since the store failed: " + last.problem())
			.remedy(last.remedy().orElse(null))
			.retryable(true)
			.cause(last)
			.build();
	}

	/**
	 * Returns the failure of a request as the caller gets it: the error of a process that
	 * can have no more threads becomes an exception of the API. Every other failure stays
	 * as it is.
	 */
	static Throwable explained(Throwable failure, String key) {
		// The message alone tells this error from a full heap.
		boolean noThread = failure instanceof OutOfMemoryError
				&& String.valueOf(failure.getMessage()).contains("thread");
		return !noThread ? failure
				: LockBackendException
					.of("Lock '" + LockException.printable(key)
							+ "' was not acquired, since this process can have no more threads, and a lock needs one"
							+ " for its renewals")
					.remedy("raise the limit (ulimit -u, or pids.max of the container), or use fewer threads")
					.retryable(true)
					.cause(failure)
					.build();
	}

	static String text(long nanos) {
		return text(Duration.ofNanos(nanos));
	}

	static String text(Duration duration) {
		return DurationRange.text(duration);
	}

}
