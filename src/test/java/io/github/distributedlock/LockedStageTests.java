package io.github.distributedlock;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;

import io.github.distributedlock.fixtures.StubHandle;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A lock whose code is not called is undone: no minimum hold time keeps the key.
 */
class LockedStageTests {

	private final List<String> events = new ArrayList<>();

	private Error failureOnClose;

	@Test
	void withoutAThreadTheLockIsUndone() {
		OutOfMemoryError noThread = new OutOfMemoryError("unable to create native thread (test)");
		CompletableFuture<String> result = LockedStage.run(acquired((task) -> {
			throw noThread;
		}), LockRequest.of("k"), this::code, this::code);
		assertThat(result).failsWithin(Duration.ZERO).withThrowableThat().withCause(noThread);
		assertThat(this.events).containsExactly("undone");
	}

	@Test
	void cancelledBeforeTheCodeIsCalledTheLockIsUndone() {
		Queue<Runnable> tasks = new ArrayDeque<>();
		CompletableFuture<String> result = LockedStage.run(acquired(tasks::add), LockRequest.of("k"), this::code,
				this::code);
		result.cancel(false);
		tasks.remove().run();
		assertThat(this.events).containsExactly("undone");
	}

	@Test
	void onceTheCodeWasCalledTheLockIsClosed() {
		CompletableFuture<String> result = LockedStage.run(acquired(Runnable::run), LockRequest.of("k"), this::code,
				this::code);
		assertThat(result).isCompletedWithValue("value");
		assertThat(this.events).containsExactly("code", "closed");
	}

	@Test
	void handleThatCannotBeClosedDoesNotChangeTheResult() {
		this.failureOnClose = new AssertionError("theirs");
		CompletableFuture<String> result = LockedStage.run(acquired(Runnable::run), LockRequest.of("k"), this::code,
				this::code);
		assertThat(result).isCompletedWithValue("value");
	}

	private CompletionStage<String> code() {
		this.events.add("code");
		return CompletableFuture.completedFuture("value");
	}

	private CompletableFuture<LockHandle> acquired(Executor callbacks) {
		CompletableFuture<LockHandle> acquired = new CompletableFuture<>() {

			@Override
			public Executor defaultExecutor() {
				return callbacks;
			}

		};
		acquired.complete(new Handle());
		return acquired;
	}

	private final class Handle extends StubHandle {

		private Handle() {
			super(List.of("k"));
		}

		@Override
		public void undo() {
			LockedStageTests.this.events.add("undone");
		}

		@Override
		public void close() {
			LockedStageTests.this.events.add("closed");
			if (LockedStageTests.this.failureOnClose != null) {
				throw LockedStageTests.this.failureOnClose;
			}
		}

	}

}
