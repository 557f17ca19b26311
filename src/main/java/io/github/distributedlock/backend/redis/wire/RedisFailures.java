package io.github.distributedlock.backend.redis.wire;

import java.net.SocketException;
import java.net.UnknownHostException;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;

import org.springframework.dao.DataAccessException;

/**
 * Says in the words of locks what a client or a server could not do.
 */
public final class RedisFailures {

	private RedisFailures() {
	}

	/**
	 * Translates a failure.
	 * @param step what was tried, as in "acquire"
	 * @param what the lock or locks
	 * @param failure the client's exception
	 * @return the exception to throw
	 */
	public static LockBackendException translate(String step, String what, RuntimeException failure) {
		if (failure instanceof LockBackendException already) {
			return already;
		}
		if (failure instanceof UnfinishedException && failure.getCause() instanceof RuntimeException cause) {
			LockBackendException rest = translate("finish to " + step, what, cause);
			return LockBackendException.of(rest.problem())
				.remedy(rest.remedy().orElse(null))
				.retryable(rest.isRetryable())
				.cause(failure)
				.build();
		}
		keepInterrupt(failure);
		String begin = "Redis could not " + step + " " + what + ": ";
		if (failure.getCause() instanceof NothingAllowedException nothing) {
			return LockBackendException.of(begin + nothing.getMessage())
				.remedy(nothing.remedy())
				.notCarriedOut(true)
				.cause(failure)
				.build();
		}
		RedisRefusal refusal = RedisRefusal.of(failure);
		if (refusal != null) {
			return LockBackendException.of(begin + answer(refusal, failure))
				.remedy(refusal.remedy())
				.retryable(refusal.passes())
				.notCarriedOut(true)
				.cause(failure)
				.build();
		}
		// No refusal: a time-out, a lost connection, a pool with nothing
		// left. What the client itself refuses to do, it refuses again.
		boolean retryable = failure instanceof DataAccessException
				|| failure instanceof java.util.concurrent.CancellationException;
		return LockBackendException.of(begin + lastWord(failure))
			.remedy(remedy(failure, retryable))
			.retryable(retryable)
			.notCarriedOut(failure instanceof UnsentException)
			.cause(failure)
			.build();
	}

	private static String answer(RedisRefusal refusal, RuntimeException failure) {
		String words = refusal.wordsIn(failure);
		return (words != null) ? LockException.printable(words.strip()) : lastWord(failure);
	}

	private static String remedy(RuntimeException failure, boolean retryable) {
		if (RedisRefusal.isError(failure)) {
			return "the server, or a proxy before it, does not say whether it was carried out: see what it says";
		}
		ConnectionProblem problem = ConnectionProblem.of(failure);
		if (problem != null) {
			return problem.remedy();
		}
		return retryable ? "check that the server can be reached and answers within the command timeout"
				: "the connection cannot be used";
	}

	// A pool that was interrupted while it waited has cleared the flag and wrapped the
	// exception.
	private static void keepInterrupt(Throwable failure) {
		for (Throwable cause : LockException.causes(failure)) {
			if (cause instanceof InterruptedException) {
				Thread.currentThread().interrupt();
			}
		}
	}

	// The root cause may say nothing, as a time-out does; then the one nearest to it.
	public static String lastWord(Throwable failure) {
		String word = failure.getClass().getSimpleName();
		for (Throwable cause : LockException.causes(failure)) {
			if (cause.getMessage() != null) {
				word = cause.getMessage();
			}
			if (cause instanceof UnknownHostException || cause instanceof SocketException) {
				break; // It names the host; what is behind it does not.
			}
		}
		return LockException.printable(word.strip());
	}

}
