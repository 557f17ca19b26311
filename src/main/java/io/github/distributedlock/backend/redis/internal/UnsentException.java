package io.github.distributedlock.backend.redis.internal;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.data.redis.RedisConnectionFailureException;

/**
 * Thrown if there was no connection to send a command on, so that the server has
 * certainly not carried the command out.
 */
final class UnsentException extends DataAccessResourceFailureException {

	UnsentException(RuntimeException cause) {
		super("no connection", cause);
	}

	UnsentException(String why, @Nullable Throwable cause) {
		this(new RedisConnectionFailureException(why, cause));
	}

}
