package io.github.distributedlock.test;

import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * How long tests wait, in real time, for what must come: so long that no busy machine
 * makes it too short, and then no longer. JUnit finds this extension by itself, for all
 * tests.
 */
public final class Patience implements BeforeAllCallback {

	/**
	 * The longest that a test waits for one thing.
	 */
	public static final Duration PATIENCE = Duration.ofSeconds(60);

	/**
	 * The time-out of commands that are answered: on a busy machine none of them is to
	 * fail.
	 */
	public static final Duration COMMAND = Duration.ofSeconds(30);

	@Override
	public void beforeAll(ExtensionContext context) {
		Awaitility.setDefaultTimeout(PATIENCE);
	}

	/**
	 * Waits for a result.
	 * @param future whose
	 * @param what what is waited for
	 * @return the result
	 * @throws CompletionException if there is a failure instead
	 */
	public static <T> T get(Future<T> future, String what) {
		try {
			return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
		}
		catch (ExecutionException ex) {
			throw new CompletionException(ex.getCause());
		}
		catch (TimeoutException ex) {
			throw tooLong(what);
		}
		catch (InterruptedException ex) {
			throw interrupted(what);
		}
	}

	/**
	 * Waits for a latch.
	 * @param latch which
	 * @param what what is waited for
	 */
	public static void await(CountDownLatch latch, String what) {
		try {
			if (!latch.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
				throw tooLong(what);
			}
		}
		catch (InterruptedException ex) {
			throw interrupted(what);
		}
	}

	/**
	 * Waits for the end of a thread.
	 * @param thread which
	 */
	public static void join(Thread thread) {
		String what = "the end of " + thread.getName();
		try {
			thread.join(PATIENCE.toMillis());
		}
		catch (InterruptedException ex) {
			throw interrupted(what);
		}
		if (thread.isAlive()) {
			AssertionError failure = tooLong(what);
			failure.setStackTrace(thread.getStackTrace());
			throw failure;
		}
	}

	/**
	 * Waits for the end of a process.
	 * @param process which
	 * @return its exit status
	 */
	public static int waitFor(Process process) {
		String what = "the end of " + process.info().commandLine().orElse(process.toString());
		try {
			if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
				throw tooLong(what);
			}
			return process.exitValue();
		}
		catch (InterruptedException ex) {
			throw interrupted(what);
		}
	}

	private static AssertionError tooLong(String what) {
		return new AssertionError("Waited in vain for " + PATIENCE.toSeconds() + " s: " + what);
	}

	private static IllegalStateException interrupted(String what) {
		Thread.currentThread().interrupt();
		return new IllegalStateException("Interrupted while waiting: " + what);
	}

}
