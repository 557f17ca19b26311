package io.github.distributedlock.backend.redis;

import org.springframework.dao.NonTransientDataAccessResourceException;

/**
 * A server that answers, but allows nothing that makes the steps of a lock atomic. Says
 * what was tried and answered.
 */
final class NothingAllowedException extends NonTransientDataAccessResourceException {

	private final String remedy;

	NothingAllowedException(String problem, String remedy) {
		super(problem);
		this.remedy = remedy;
	}

	String remedy() {
		return this.remedy;
	}

}
