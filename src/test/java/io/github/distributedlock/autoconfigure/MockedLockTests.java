package io.github.distributedlock.autoconfigure;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.annotation.IfBusy;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Patience;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.mockito.Answers;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.context.bean.override.mockito.MockitoSpyBean;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;

/**
 * An application starts with a mock or a spy of the lock, as in a user's test, and an
 * annotated method tells what the mock still lacks.
 */
class MockedLockTests {

	@Nested
	@SpringJUnitConfig
	@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)
	@Import({ Greeter.class, Refresher.class, SimpleMeterRegistry.class })
	@TestPropertySource(properties = "distributed-lock.backend=memory")
	class OfTheInterface {

		@MockitoBean
		private DistributedLock lock;

		@Autowired
		private Greeter greeter;

		@Autowired
		private Refresher refresher;

		@Test
		void anAnnotatedMethodSaysThatTheMockGivesNoHandle() {
			assertThatIllegalStateException().isThrownBy(this.greeter::heldKeys)
				.withMessageContainingAll("gave no handle for lock [greeting]",
						"given(lock.acquire(any(LockRequest.class))).willReturn(mock(LockHandle.class))",
						"distributed-lock.backend=memory");
		}

		@Test
		void aReactiveMethodSaysSo() {
			assertThatIllegalStateException().isThrownBy(() -> this.refresher.refreshed().block(Patience.PATIENCE))
				.withMessageContaining("gave no handle for lock [refresh]");
		}

		@Test
		void anAnnotatedMethodRunsWithTheHandleOfTheMock() {
			LockHandle handle = mock();
			given(this.lock.acquire(any(LockRequest.class))).willReturn(handle);
			assertThat(this.greeter.heldKeys()).isEmpty();
			verify(handle).close();
		}

		@Test
		void aMethodThatSkipsFindsTheMockBusy() {
			given(this.lock.tryAcquire(any(LockRequest.class))).willReturn(Optional.empty());
			assertThat(this.refresher.refresh()).isNull();
		}

	}

	@Nested
	@SpringJUnitConfig
	@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)
	@Import(Greeter.class)
	@TestPropertySource(properties = "distributed-lock.backend=memory")
	class OfTheEngine {

		@MockitoBean
		private LockEngine engine;

		@Autowired
		private Greeter greeter;

		@Test
		void starts() {
			assertThatIllegalStateException().isThrownBy(this.greeter::heldKeys)
				.withMessageContaining("gave no handle for lock [greeting]");
			verify(this.engine).acquire(any(LockRequest.class));
		}

	}

	@Nested
	@SpringJUnitConfig
	@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)
	@Import(Greeter.class)
	@TestPropertySource(properties = "distributed-lock.backend=memory")
	class Spied {

		@MockitoSpyBean
		private DistributedLock lock;

		@Autowired
		private Greeter greeter;

		@Test
		void locks() {
			assertThat(this.greeter.heldKeys()).containsExactly("greeting");
			verify(this.lock).acquire(any(LockRequest.class));
		}

	}

	/**
	 * Answers requests as a plain mock does, and runs code as any lock does.
	 */
	@Nested
	class WithRealDefaultMethods {

		private final DistributedLock lock = mock(DistributedLock.class, Answers.CALLS_REAL_METHODS);

		private boolean hasRun;

		@Test
		void codeDoesNotRunUnlocked() {
			assertNoHandle(() -> this.lock.run("report", this::runs));
			assertNoHandle(() -> this.lock.execute("report", this::runs));
			given(this.lock.acquireAsync(any(LockRequest.class))).willReturn(null);
			assertNoHandle(() -> this.lock.executeAsync("report", this::runs));
		}

		@Test
		void codeForABusyLockDoesNotRunInstead() {
			given(this.lock.tryAcquire(any(LockRequest.class))).willReturn(null);
			assertNoHandle(() -> this.lock.tryRun("report", this::runs));
			assertNoHandle(() -> this.lock.tryExecute("report", this::runs, this::runs));
			given(this.lock.tryAcquireAsync(any(LockRequest.class))).willReturn(null);
			assertNoHandle(() -> this.lock.tryExecuteAsync("report", this::runs, this::runs));
		}

		private CompletionStage<String> runs() {
			this.hasRun = true;
			return CompletableFuture.completedStage("done");
		}

		private void assertNoHandle(ThrowingCallable call) {
			assertThatIllegalStateException().isThrownBy(call)
				.withMessageContaining("gave no handle for lock [report]");
			assertThat(this.hasRun).isFalse();
		}

	}

	static class Refresher {

		@io.github.distributedlock.annotation.DistributedLock(key = "'refresh'", ifBusy = IfBusy.SKIP)
		public String refresh() {
			return "refreshed";
		}

		@io.github.distributedlock.annotation.DistributedLock(key = "'refresh'")
		public Mono<String> refreshed() {
			return Mono.just("refreshed");
		}

	}

}
