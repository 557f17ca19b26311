package io.github.distributedlock.engine.runtime;

import java.time.Duration;
import java.util.function.Supplier;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs code of the application: listeners, actions, executors. What it throws is logged,
 * and affects no other code.
 * <p>
 * That goes for every {@link Throwable}. Kotlin and Lombok throw checked exceptions from
 * anywhere. A {@link StackOverflowError} has ended with the call that ran too deep. After
 * an {@link OutOfMemoryError} the other threads go on as well, and here it would cost a
 * caller the handle of a lock that is renewed for ever.
 */
public final class UserCode {

	private static final Logger logger = LoggerFactory.getLogger(UserCode.class);

	private static final Duration LONG = Duration.ofSeconds(10);

	private final EngineTime time;

	public UserCode(EngineTime time) {
		this.time = time;
	}

	/**
	 * Runs code on the calling thread.
	 * @param what what it is, for the log
	 * @return {@code false} if it threw something
	 */
	public static boolean run(Runnable code, Supplier<String> what) {
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
	 * Logs what code on the calling thread has thrown.
	 * @param what what it is
	 */
	public static void caught(Throwable failure, Supplier<String> what) {
		if (failure instanceof InterruptedException) {
			Thread.currentThread().interrupt(); // It was the thread that was meant.
		}
		log(what, failure);
	}

	/**
	 * Runs code on the calling thread, and warns if that takes long.
	 * @param what what it is, for the log
	 */
	public void runWatched(Runnable code, Supplier<String> what) {
		EngineTime.Alarm alarm = watch(Thread.currentThread(), what);
		run(code, what);
		alarm.cancel();
	}

	private EngineTime.Alarm watch(Thread thread, Supplier<String> what) {
		try {
			return this.time.schedule(() -> warn(what, thread), LONG.toNanos());
		}
		catch (Error noThread) {
			return () -> {
			};
		}
	}

	private static void warn(Supplier<String> what, Thread thread) {
		Throwable position = new Throwable("where thread " + thread.getName() + " is now");
		position.setStackTrace(thread.getStackTrace());
		logger.warn("{} has been running for {}; the stack shows where it is. Let it hand over what takes long",
				what.get(), Text.of(LONG), position);
	}

	/**
	 * Logs that code has thrown something. The log asks the exception for its message and
	 * causes, and appenders what to do: that is code of the application, too.
	 * @param what what it is
	 */
	private static void log(Supplier<String> what, Throwable failure) {
		if (!isDone(() -> logger.warn("{} failed", what.get(), failure))) {
			isDone(() -> logger.warn("{} failed with {}, which cannot be logged", what.get(),
					failure.getClass().getName()));
		}
	}

	private static boolean isDone(Runnable logging) {
		try {
			logging.run();
			return true;
		}
		catch (Throwable ex) {
			return false; // It cannot be told anywhere.
		}
	}

}
