package io.github.distributedlock.backend.redis.connection;

import java.net.UnknownHostException;
import java.util.function.Predicate;

import javax.net.ssl.SSLException;

import io.github.distributedlock.LockException;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.RedisConnectionFailureException;

/**
 * Why a connection could not be opened, where a client's exception tells.
 */
public enum ConnectionProblem {

	UNKNOWN_HOST(UnknownHostException.class::isInstance,
			"no such host is known: check spring.data.redis.host, or whatever names the servers, and the DNS"),

	// What the JDK says, and what Netty does.
	NO_TLS((cause) -> cause instanceof SSLException && String.valueOf(cause.getMessage())
		.matches("(?s)Unsupported or unrecognized SSL message.*|not an SSL/TLS record.*"),
			"the server does not speak TLS on this port: use the port where it does,"
					+ " or set spring.data.redis.ssl.enabled=false"),

	SILENCE(SilentTls.class::isInstance,
			"a server that does not speak TLS on this port does not answer: use the port where it does,"
					+ " set spring.data.redis.ssl.enabled=false, or see why the server is slow"),

	TLS(SSLException.class::isInstance,
			"the TLS connection could not be opened: check the server's certificate and spring.data.redis.ssl.bundle");

	private final Predicate<Throwable> shown;

	private final String remedy;

	ConnectionProblem(Predicate<Throwable> shown, String remedy) {
		this.shown = shown;
		this.remedy = remedy;
	}

	/**
	 * Whether an opening has got no answer in time.
	 * @param failure the client's exception
	 * @return {@code false} also for a connection that was refused
	 */
	public static boolean isTimeout(Throwable failure) {
		return isIn(failure, (cause) -> cause.getClass().getSimpleName().endsWith("TimeoutException"));
	}

	/**
	 * What to do about it.
	 * @return {@code null} if it is another problem, or none with the connection
	 */
	static @Nullable String remedy(Throwable failure) {
		for (ConnectionProblem problem : values()) {
			if (isIn(failure, problem.shown)) {
				return problem.remedy;
			}
		}
		return null;
	}

	private static boolean isIn(Throwable failure, Predicate<Throwable> problem) {
		return LockException.causes(failure).stream().anyMatch(problem);
	}

	public static RuntimeException silentTls(RuntimeException cause) {
		return new SilentTls(cause);
	}

	/**
	 * A connection by TLS that got no answer in time: what a server does that takes the
	 * beginning of TLS for that of a command.
	 */
	static final class SilentTls extends RedisConnectionFailureException {

		SilentTls(RuntimeException cause) {
			super("no answer to TLS", cause);
		}

	}

}
