package io.github.distributedlock.backend.redis.wire;

import org.springframework.dao.DataAccessResourceFailureException;

/**
 * A lock was taken, and what else belongs to it has failed. So the step was carried out
 * in part, whatever the server says about the rest.
 */
public final class UnfinishedException extends DataAccessResourceFailureException {

	public UnfinishedException(RuntimeException cause) {
		super("carried out in part", cause);
	}

}
