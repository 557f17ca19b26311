package io.github.distributedlock.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Says what to do if there is nowhere to keep locks.
 */
class LockBackendMissingFailureAnalyzer extends AbstractFailureAnalyzer<LockBackendMissingException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, LockBackendMissingException cause) {
		return new FailureAnalysis(cause.getMessage(), cause.remedy(), cause);
	}

}
