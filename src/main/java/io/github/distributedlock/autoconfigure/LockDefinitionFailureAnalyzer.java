package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.LockDefinitionException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.util.StringUtils;

/**
 * Says which lock annotation is wrong, and what to write instead.
 */
class LockDefinitionFailureAnalyzer extends AbstractFailureAnalyzer<LockDefinitionException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, LockDefinitionException cause) {
		String remedy = cause.remedy().map(StringUtils::capitalize).orElse("Correct the annotation as described above");
		return new FailureAnalysis(cause.problem(), remedy
				+ ". The application does not start, so that the method never runs without the lock that it asks for.",
				cause);
	}

}
