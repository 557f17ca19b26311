package io.github.distributedlock.docs;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockNotAcquiredException;
import org.junit.jupiter.api.Test;

import org.springframework.http.ProblemDetail;
import org.springframework.web.method.annotation.ExceptionHandlerMethodResolver;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The handler tells a busy lock from a store that is down.
 */
class LockFailuresTests {

	private final LockFailures handler = new LockFailures();

	@Test
	void busyIsAConflict() throws Exception {
		LockException busy = new LockNotAcquiredException("busy", List.of("order:7"), Duration.ofSeconds(5), null);
		assertThat(handled(busy).getStatus()).isEqualTo(409);
	}

	@Test
	void aStoreThatIsDownIsUnavailable() throws Exception {
		assertThat(handled(LockBackendException.of("down").retryable(true).build()).getStatus()).isEqualTo(503);
	}

	/**
	 * Finds the handler's method as Spring MVC does.
	 */
	private ProblemDetail handled(LockException failure) throws Exception {
		var method = new ExceptionHandlerMethodResolver(LockFailures.class).resolveMethod(failure);
		assertThat(method).as("among " + Arrays.toString(LockFailures.class.getMethods())).isNotNull();
		return (ProblemDetail) method.invoke(this.handler, failure);
	}

}
