package io.github.distributedlock.engine;

import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for keys in code that look like expressions of an annotation.
 */
@ExtendWith(OutputCaptureExtension.class)
class ExpressionInCodeTests {

	private static final String WARNING = "looks like an expression";

	private final LockEngine engine = LockEngine.builder(new InMemoryLockBackend()).build();

	@AfterEach
	void close() {
		this.engine.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "order:#{#id}", "${region}:orders" })
	void isWarnedOfOnce(String key, CapturedOutput output) {
		for (int call = 0; call < 3; call++) {
			this.engine.acquire(LockRequest.of("plain", key)).close();
			this.engine.tryAcquire(key).orElseThrow().close();
			Patience.get(this.engine.acquireAsync(LockRequest.of(key)), "the lock").close();
		}
		assertThat(output).containsOnlyOnce("Lock key '" + key + "' " + WARNING);
	}

	@Test
	void isWarnedOfWhereItIsAsynchronous(CapturedOutput output) {
		Patience.get(this.engine.acquireAsync(LockRequest.of("order:#{#id}")), "the lock").close();
		assertThat(output).containsOnlyOnce(WARNING);
	}

	@ParameterizedTest
	@ValueSource(strings = { "order:7", "{order}:7", "order#7", "price:5$", "#{", "a}#{" })
	void otherKeysAreNot(String key, CapturedOutput output) {
		this.engine.acquire(key).close();
		assertThat(output).doesNotContain(WARNING);
	}

}
