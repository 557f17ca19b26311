package io.github.distributedlock.backend.memory;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.tck.LockBackendContractTests;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The memory of this JVM does what every backend has to do.
 */
class InMemoryLockBackendTests extends LockBackendContractTests {

	@Override
	protected LockBackend backend(String store) {
		return new InMemoryLockBackend();
	}

	// Tokens of the next run are greater, too.
	@Test
	void fencingTokensAreNotLessThanTheTime() {
		long before = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());
		Claim claim = Claim.of("k", "a:1", "a", Duration.ofMinutes(1)).fenced(true);
		assertThat(new InMemoryLockBackend().acquire(claim).fencingToken()).isGreaterThanOrEqualTo(before);
	}

}
