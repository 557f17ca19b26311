package io.github.distributedlock.backend.redis.internal;

import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.concurrent.CancellationException;
import java.util.function.Predicate;
import java.util.regex.Pattern;

import javax.net.ssl.SSLException;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.NonTransientDataAccessResourceException;
import org.springframework.data.redis.RedisConnectionFailureException;

/**
 * Translates failures of a client or a server into the words of locks.
 */
public final class RedisFailures {

	/** The messages of the JDK and of Netty for a server that does not speak TLS. */
	private static final Pattern NO_TLS = Pattern
		.compile("Unsupported or unrecognized SSL message|not an SSL/TLS record");

	private RedisFailures() {
	}

	/**
	 * Translates a failure.
	 * @param step the step that was tried, such as "acquire"
	 * @param what the lock or locks
	 * @param failure the client's exception
	 * @return the exception to throw
	 */
	public static LockBackendException translate(String step, String what, RuntimeException failure) {
		if (failure instanceof LockBackendException already) {
			return already;
		}
		if (failure instanceof Unfinished && failure.getCause() instanceof RuntimeException cause) {
			LockBackendException rest = translate("finish to " + step, what, cause);
			return failure(rest.problem(), rest.remedy().orElse(null), rest.isRetryable(), false, failure);
		}
		if (isIn(failure, InterruptedException.class::isInstance)) {
			// A pool that was interrupted during a wait has cleared the flag and wrapped
			// the exception.
			Thread.currentThread().interrupt();
		}
		String begin = "Redis could not " + step + " " + what + ": ";
		if (failure.getCause() instanceof NothingAllowed nothing) {
			return failure(begin + nothing.getMessage(), nothing.remedy, false, true, failure);
		}
		RedisRefusal refusal = RedisRefusal.of(failure);
		if (refusal != null) {
			String words = refusal.wordsIn(failure);
			return failure(begin + ((words != null) ? LockException.printable(words.strip()) : deepestMessage(failure)),
					refusal.remedy(), refusal.passes(), true, failure);
		}
		// The server did not refuse: this is a timeout, a lost connection, or an
		// exhausted pool, which may pass. A client that refuses by itself refuses again.
		boolean retryable = failure instanceof DataAccessException || failure instanceof CancellationException;
		return failure(begin + deepestMessage(failure), remedy(failure, retryable), retryable,
				failure instanceof UnsentException, failure);
	}

	private static LockBackendException failure(String problem, @Nullable String remedy, boolean retryable,
			boolean withoutEffect, RuntimeException cause) {
		return LockBackendException.of(problem)
			.remedy(remedy)
			.retryable(retryable)
			.withoutEffect(withoutEffect)
			.cause(cause)
			.build();
	}

	private static String remedy(RuntimeException failure, boolean retryable) {
		if (RedisRefusal.isError(failure)) {
			return "the server, or a proxy before it, does not say whether the command was carried out: read its message";
		}
		if (isIn(failure, UnknownHostException.class::isInstance)) {
			return "no such host is known: check spring.data.redis.host, or whatever names the servers, and the DNS";
		}
		if (isIn(failure, (cause) -> cause instanceof SSLException
				&& NO_TLS.matcher(String.valueOf(cause.getMessage())).lookingAt())) {
			return "the server does not speak TLS on this port: use the port where it does,"
					+ " or set spring.data.redis.ssl.enabled=false";
		}
		if (isIn(failure, SilentTls.class::isInstance)) {
			return "a server that does not speak TLS on this port does not answer: use the port where it does,"
					+ " set spring.data.redis.ssl.enabled=false, or see why the server is slow";
		}
		if (isIn(failure, SSLException.class::isInstance)) {
			return "the TLS connection could not be opened: check the server's certificate and"
					+ " spring.data.redis.ssl.bundle";
		}
		return retryable ? "check that the server can be reached and answers within the command timeout"
				: "the connection cannot be used";
	}

	/**
	 * Returns whether no answer came in time.
	 * @param failure the client's exception
	 * @return {@code true} for a timeout; {@code false} for a connection that was refused
	 */
	public static boolean isTimeout(Throwable failure) {
		return isIn(failure, (cause) -> cause.getClass().getSimpleName().endsWith("TimeoutException"));
	}

	private static boolean isIn(Throwable failure, Predicate<Throwable> problem) {
		return LockException.causes(failure).stream().anyMatch(problem);
	}

	// Returns the message of the deepest cause that has one: the root cause may have no
	// message, as a timeout has none.
	public static String deepestMessage(Throwable failure) {
		String word = failure.getClass().getSimpleName();
		for (Throwable cause : LockException.causes(failure)) {
			if (cause.getMessage() != null) {
				word = cause.getMessage();
			}
			if (cause instanceof UnknownHostException || cause instanceof SocketException) {
				break; // This cause names the host; deeper causes do not.
			}
		}
		return LockException.printable(word.strip());
	}

	// Static methods create the exceptions, so that code which may throw them loads their
	// classes only when thrown.

	public static RuntimeException unfinished(RuntimeException cause) {
		return new Unfinished(cause);
	}

	public static boolean isUnfinished(RuntimeException failure) {
		return failure instanceof Unfinished;
	}

	public static RuntimeException nothingAllowed(String problem, String remedy) {
		return new NothingAllowed(problem, remedy);
	}

	public static boolean isNothingAllowed(RuntimeException failure) {
		return failure instanceof NothingAllowed;
	}

	/**
	 * Returns the failure of a step that is not sent since another step has failed.
	 */
	public static RuntimeException unsent(RuntimeException cause) {
		return new UnsentException(cause);
	}

	/**
	 * Returns the failure of an opening of connections, which names TLS if that may be
	 * the reason.
	 */
	static UnsentException ofOpening(UnsentException failure, boolean tls) {
		return (tls && isTimeout(failure)) ? new UnsentException(new SilentTls(failure)) : failure;
	}

	/**
	 * Thrown if a lock was taken, and a later command of the step has failed. The step
	 * was carried out in part, whatever the server says about the rest.
	 */
	private static final class Unfinished extends DataAccessResourceFailureException {

		Unfinished(RuntimeException cause) {
			super("carried out in part", cause);
		}

	}

	/**
	 * Thrown if a server answers, but allows no way that makes the steps of a lock
	 * atomic. The message says what was tried and answered.
	 */
	private static final class NothingAllowed extends NonTransientDataAccessResourceException {

		private final String remedy;

		NothingAllowed(String problem, String remedy) {
			super(problem);
			this.remedy = remedy;
		}

	}

	/**
	 * Thrown if a TLS connection got no answer in time. A server without TLS gives no
	 * answer, since that server takes the beginning of TLS for the beginning of a
	 * command.
	 */
	private static final class SilentTls extends RedisConnectionFailureException {

		SilentTls(RuntimeException cause) {
			super("no answer to TLS", cause);
		}

	}

}
