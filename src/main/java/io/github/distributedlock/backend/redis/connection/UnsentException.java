package io.github.distributedlock.backend.redis.connection;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.data.redis.RedisConnectionFailureException;

/**
 * There was no connection to send a command on, so the server has certainly not carried
 * it out.
 */
public final class UnsentException extends DataAccessResourceFailureException {

	public UnsentException(RuntimeException cause) {
		super("no connection", cause);
	}

	UnsentException(String why, @Nullable Throwable cause) {
		this(new RedisConnectionFailureException(why, cause));
	}

}
