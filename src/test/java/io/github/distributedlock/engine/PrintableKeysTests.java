package io.github.distributedlock.engine;

import java.time.Duration;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockUpgradeException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Keys in messages and in the log have no control characters.
 */
@ExtendWith(OutputCaptureExtension.class)
class PrintableKeysTests extends EngineFixture {

	private static final String KEY = "k\r\nERROR \u001b[31mall is lost";

	private static final String PRINTED = "k\\r\\nERROR \\u001b[31mall is lost";

	@Test
	void ofABusyLockAndItsHolder() {
		ownedElsewhere(KEY, LEASE);
		LockNotAcquiredException busy = assertPrinted(LockNotAcquiredException.class,
				() -> this.engine.acquire(waiting(KEY, Duration.ZERO)));
		assertThat(busy.keys()).containsExactly(KEY);
	}

	@Test
	void ofWhatTheHolderAsksForInVain() {
		try (LockHandle handle = this.engine.acquire(LockRequest.of(KEY).mode(LockMode.SHARED).leaseTime(LEASE))) {
			assertThat(handle.toString()).contains(PRINTED);
			assertPrinted(LockUpgradeException.class, () -> this.engine.acquire(request(KEY)));
			assertPrinted(IllegalArgumentException.class, () -> this.engine.acquire(request(KEY).fenced(true)));
		}
	}

	@Test
	void ofAStoreThatFails() {
		this.backend.breaks((step) -> {
			throw new IllegalStateException("broken");
		});
		assertPrinted(LockBackendException.class, () -> this.engine.acquire(waiting(KEY, Duration.ZERO)));
		this.backend.works();
	}

	@Test
	void ofALockThatIsLost(CapturedOutput output) {
		LockHandle handle = this.engine.acquire(LockRequest.of(KEY).leaseTime(LEASE));
		this.time.advance(LEASE);
		assertPrinted(LockLostException.class, handle::checkHeld);
		Awaitility.await("the log").untilAsserted(() -> assertThat(output).contains("Lock '" + PRINTED + "' of "));
		assertThat(output).doesNotContain(KEY);
	}

	private static <T extends Exception> T assertPrinted(Class<T> type, ThrowingCallable call) {
		T failure = catchThrowableOfType(type, call);
		assertThat(failure).hasMessageContaining(PRINTED).message().doesNotContainPattern("\\p{Cntrl}");
		return failure;
	}

}
