package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockInterruptedException;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Requests for what not every store can do, while it is not known whether this one can.
 */
class SupportTests extends EngineFixture {

	private static final LockRequest SHARED = request("k").mode(LockMode.SHARED);

	private static final Duration LONG = Duration.ofSeconds(20);

	static Stream<LockRequest> whatNotEachStoreCan() {
		return Stream.of(SHARED, request("k").fair(true), request("k").fenced(true));
	}

	@ParameterizedTest
	@MethodSource("whatNotEachStoreCan")
	void whoMayWaitOutlastsAStoreThatCannotBeAsked(LockRequest request) {
		this.backend.next("check", ScriptedBackend.NOT_NOW);
		this.engine.acquire(request.waitTime(LONG)).close();
		this.backend.next("check", ScriptedBackend.NOT_NOW);
		CompletableFuture<LockHandle> future = this.engine.acquireAsync(request.waitTime(LONG));
		this.time.advance(Duration.ZERO);
		assertThat(future).isCompleted();
	}

	@ParameterizedTest
	@MethodSource("whatNotEachStoreCan")
	void whoMayNotWaitIsToldAtOnce(LockRequest request) {
		this.backend.next("check", ScriptedBackend.NOT_NOW);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.engine.tryAcquire(request));
		assertThat(this.backend.steps()).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("whatNotEachStoreCan")
	void refusalIsFinal(LockRequest request) {
		this.backend.next("check", ScriptedBackend.REFUSED);
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.engine.acquire(request.waitTime(LONG)));
		assertThat(this.backend.steps()).isEmpty();
	}

	@Test
	void interruptWhileTheStoreIsAskedCounts() {
		interruptsTheCheck();
		assertThatExceptionOfType(LockInterruptedException.class)
			.isThrownBy(() -> this.engine.acquire(SHARED.waitTime(LONG)));
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.backend.steps()).isEmpty();
	}

	@Test
	void interruptDoesNotEndAWaitThatLastsInSpiteOfIt() {
		interruptsTheCheck();
		this.engine.acquire(SHARED.waitTime(LONG).interruptible(false)).close();
		assertThat(Thread.interrupted()).isTrue();
	}

	private void interruptsTheCheck() {
		this.backend.next("check", (step) -> {
			Thread.currentThread().interrupt();
			return ScriptedBackend.NOT_NOW.apply(step);
		});
	}

}
