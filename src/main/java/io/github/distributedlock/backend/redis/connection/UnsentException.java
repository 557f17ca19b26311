package io.github.distributedlock.backend.redis.connection;

import org.springframework.dao.DataAccessResourceFailureException;

/**
 * There was no connection to send a command on, so the server has certainly not carried
 * it out.
 */
public final class UnsentException extends DataAccessResourceFailureException {

	public UnsentException(RuntimeException cause) {
		super("no connection", cause);
	}

}
