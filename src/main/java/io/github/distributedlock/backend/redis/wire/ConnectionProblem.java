package io.github.distributedlock.backend.redis.wire;

import java.net.UnknownHostException;

import javax.net.ssl.SSLException;

import io.github.distributedlock.LockException;
import org.jspecify.annotations.Nullable;

/**
 * Why a connection could not be opened, where a client's exception tells.
 */
public enum ConnectionProblem {

	UNKNOWN_HOST("no such host is known: check spring.data.redis.host, or whatever names the servers, and the DNS") {

		@Override
		boolean isShownBy(Throwable cause) {
			return cause instanceof UnknownHostException;
		}

	},

	NO_TLS("the server does not speak TLS on this port: use the port where it does,"
			+ " or set spring.data.redis.ssl.enabled=false") {

		@Override
		boolean isShownBy(Throwable cause) {
			// What the JDK says, and what Netty does.
			return cause instanceof SSLException && String.valueOf(cause.getMessage())
				.matches("(?s)Unsupported or unrecognized SSL message.*|not an SSL/TLS record.*");
		}

	},

	SILENCE("a server that does not speak TLS on this port does not answer: use the port where it does,"
			+ " set spring.data.redis.ssl.enabled=false, or see why the server is slow") {

		@Override
		boolean isShownBy(Throwable cause) {
			return cause instanceof SilentTlsException;
		}

	},

	TLS("the TLS connection could not be opened: check the server's certificate and spring.data.redis.ssl.bundle") {

		@Override
		boolean isShownBy(Throwable cause) {
			return cause instanceof SSLException;
		}

	};

	private final String remedy;

	ConnectionProblem(String remedy) {
		this.remedy = remedy;
	}

	abstract boolean isShownBy(Throwable cause);

	String remedy() {
		return this.remedy;
	}

	/**
	 * Whether an opening has got no answer in time.
	 * @param failure the client's exception
	 * @return {@code false} also for a connection that was refused
	 */
	public static boolean isTimeout(Throwable failure) {
		for (Throwable cause : LockException.causes(failure)) {
			if (cause.getClass().getSimpleName().endsWith("TimeoutException")) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Finds the problem.
	 * @param failure the client's exception
	 * @return it, or {@code null} if it is another, or none with the connection
	 */
	static @Nullable ConnectionProblem of(Throwable failure) {
		for (ConnectionProblem problem : values()) {
			for (Throwable cause : LockException.causes(failure)) {
				if (problem.isShownBy(cause)) {
					return problem;
				}
			}
		}
		return null;
	}

}
