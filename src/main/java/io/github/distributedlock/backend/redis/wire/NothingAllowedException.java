package io.github.distributedlock.backend.redis.wire;

import org.springframework.dao.NonTransientDataAccessResourceException;

/**
 * A server that answers, but allows nothing that makes the steps of a lock atomic. Says
 * what was tried and answered.
 */
public final class NothingAllowedException extends NonTransientDataAccessResourceException {

	private final String remedy;

	public NothingAllowedException(String problem, String remedy) {
		super(problem);
		this.remedy = remedy;
	}

	public String remedy() {
		return this.remedy;
	}

}
