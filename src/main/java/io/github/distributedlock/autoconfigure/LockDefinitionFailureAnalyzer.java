package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.LockDefinitionException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Says which lock annotation is wrong. Its message has the remedy.
 */
class LockDefinitionFailureAnalyzer extends AbstractFailureAnalyzer<LockDefinitionException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, LockDefinitionException cause) {
		return new FailureAnalysis(cause.getMessage(), "Correct the annotation as described above."
				+ " The application does not start, so that the method never runs without the lock that it asks for.",
				cause);
	}

}
