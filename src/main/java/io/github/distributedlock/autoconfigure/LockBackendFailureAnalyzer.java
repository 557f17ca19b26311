package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.LockBackendException;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.util.StringUtils;

/**
 * Says what is wrong with the store of the locks, and what to do about it.
 */
class LockBackendFailureAnalyzer extends AbstractFailureAnalyzer<LockBackendException> {

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, LockBackendException cause) {
		return cause.remedy()
			.map((remedy) -> new FailureAnalysis(cause.problem(), StringUtils.capitalize(remedy), cause))
			.orElse(null);
	}

}
