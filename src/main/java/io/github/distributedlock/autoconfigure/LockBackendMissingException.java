package io.github.distributedlock.autoconfigure;

/**
 * There is nowhere to keep locks.
 */
final class LockBackendMissingException extends RuntimeException {

	private final String remedy;

	LockBackendMissingException(String problem, String remedy) {
		super(problem);
		this.remedy = remedy;
	}

	String remedy() {
		return this.remedy;
	}

}
