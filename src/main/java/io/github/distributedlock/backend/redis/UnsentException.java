package io.github.distributedlock.backend.redis;

import org.springframework.dao.DataAccessResourceFailureException;

/**
 * There was no connection to send a command on, so the server has certainly not carried
 * it out.
 */
final class UnsentException extends DataAccessResourceFailureException {

	UnsentException(RuntimeException cause) {
		super("no connection", cause);
	}

}
