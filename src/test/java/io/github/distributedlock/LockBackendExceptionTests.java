package io.github.distributedlock;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LockBackendExceptionTests {

	@Test
	void bareOneSaysThatNothingIsKnown() {
		LockBackendException failure = LockBackendException.of("the store is down").build();
		assertThat(failure).hasMessage("the store is down").hasNoCause();
		assertThat(failure.problem()).isEqualTo("the store is down");
		assertThat(failure.remedy()).isEmpty();
		assertThat(failure.isRetryable()).isFalse();
		assertThat(failure.isWithoutEffect()).isFalse();
	}

	@Test
	void messageIsTheProblemAndTheRemedyInParentheses() {
		Exception cause = new IllegalStateException();
		LockBackendException failure = LockBackendException.of("out of memory")
			.remedy("raise maxmemory")
			.retryable(true)
			.withoutEffect(true)
			.cause(cause)
			.build();
		assertThat(failure).hasMessage("out of memory (raise maxmemory)").hasCause(cause);
		assertThat(failure.problem()).isEqualTo("out of memory");
		assertThat(failure.remedy()).hasValue("raise maxmemory");
		assertThat(failure.isRetryable()).isTrue();
		assertThat(failure.isWithoutEffect()).isTrue();
	}

}
