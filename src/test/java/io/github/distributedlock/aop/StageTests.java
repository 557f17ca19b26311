package io.github.distributedlock.aop;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.OnLost;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A stage as result holds the lock until the stage completes.
 */
class StageTests extends AdvisedFixture<StageTests.Service> {

	private final CompletableFuture<String> source = new CompletableFuture<>();

	StageTests() {
		super(Service.class);
	}

	@Test
	void heldUntilTheStageCompletes() throws Exception {
		CompletableFuture<String> result = this.service.future(() -> this.source);
		assertThat(this.events).containsExactly("acquire");
		Thread thread = new Thread(() -> this.source.complete("done"));
		thread.start();
		Patience.join(thread);
		assertThat(result).isCompletedWithValue("done");
		assertThat(this.events).containsExactly("acquire", "release");
	}

	@Test
	void leavesTheCallingThread() {
		this.service.future(() -> {
			assertThat(LockHandle.current()).isPresent();
			return this.source;
		});
		assertThat(LockHandle.current()).isEmpty();
		assertThat(this.events).containsExactly("acquire");
	}

	@Test
	void whoWaitsForTheResultFindsTheLockFree() {
		List<String> seen = new CopyOnWriteArrayList<>();
		this.service.stage(() -> this.source).thenRun(() -> seen.addAll(this.events));
		this.source.complete("done");
		assertThat(seen).containsExactly("acquire", "release");
	}

	@Test
	void releaseOfACompletedStageDoesNotBlockItsThread() {
		CompletableFuture<Void> released = new CompletableFuture<>();
		this.context.lock().released = released;
		CompletableFuture<String> result = this.service.future(() -> this.source);
		this.source.complete("done");
		assertThat(this.events).containsExactly("acquire", "release begins");
		assertThat(result).as("while the lock is held").isNotDone();
		released.complete(null);
		assertThat(result).isCompletedWithValue("done");
	}

	@Test
	void releaseThatFailsDoesNotChangeTheResult() {
		this.context.lock().failureOnClose = new IllegalStateException("theirs");
		CompletableFuture<String> result = this.service.future(() -> this.source);
		this.source.complete("done");
		assertThat(result).isCompletedWithValue("done");
	}

	@Test
	void handleThatCannotBeAskedForALossIsReleased() {
		this.context.lock().failureOnCheck = new UnsupportedOperationException("theirs");
		CompletableFuture<String> result = this.service.checked(() -> this.source);
		this.source.complete("done");
		assertThat(result).isCompletedExceptionally();
		assertThat(this.events).containsExactly("acquire", "release");
	}

	@Test
	void failureArrivesUnwrapped() {
		IllegalStateException failure = new IllegalStateException("mine");
		CompletableFuture<Throwable> seen = this.service.future(() -> this.source).handle((value, thrown) -> thrown);
		this.source.completeExceptionally(failure);
		assertThat(Patience.get(seen, "the stage")).isSameAs(failure);
		assertThat(this.events).containsExactly("acquire", "release");
	}

	@Test
	void failureOfADependentStageArrivesAsItWas() {
		CompletableFuture<Throwable> seen = this.service.future(() -> this.source.thenApply((value) -> {
			throw new IllegalStateException("mine");
		})).handle((value, thrown) -> thrown);
		this.source.complete("done");
		assertThat(Patience.get(seen, "the stage")).isInstanceOf(CompletionException.class).hasRootCauseMessage("mine");
	}

	@Test
	void cancellingReachesTheSource() {
		CompletableFuture<String> result = this.service.future(() -> this.source);
		assertThat(result.cancel(true)).isTrue();
		assertThat(result).isCancelled();
		assertThat(this.source).isCancelled();
		assertThat(this.events).containsExactly("acquire", "release");
	}

	@Test
	void timeoutOfTheCallerDoesNotReleaseUnderTheRunningWork() {
		CompletableFuture<String> result = this.service.future(() -> this.source);
		result.completeExceptionally(new IllegalStateException("too late for me"));
		assertThat(this.events).containsExactly("acquire");
		this.source.complete("done");
		assertThat(this.events).containsExactly("acquire", "release");
	}

	@Test
	void completedStageReleasesAtOnceAndIsReturnedAsItIs() {
		this.source.complete("done");
		assertThat(this.service.future(() -> this.source)).isSameAs(this.source);
		assertThat(this.events).containsExactly("acquire", "release");
	}

	@Test
	void noStageReleasesAtOnce() {
		assertThat(this.service.future(() -> null)).isNull();
		assertThat(this.events).containsExactly("acquire", "release");
	}

	@Test
	void methodThatThrowsReleasesAtOnce() {
		assertThatThrownBy(() -> this.service.future(() -> {
			throw new IllegalStateException("mine");
		})).hasMessage("mine");
		assertThat(this.events).containsExactly("acquire", "release");
	}

	@Test
	void stageOfATypeOfItsOwnIsReturnedAsItIs() {
		Special special = new Special();
		assertThat(this.service.special(special)).isSameAs(special);
		assertThat(this.events).containsExactly("acquire");
		special.complete("done");
		assertThat(this.events).containsExactly("acquire", "release");
	}

	@Test
	void stageBehindAGeneralResultTypeIsFollowedToo() {
		assertThat(this.service.general(this.source)).isInstanceOf(CompletionStage.class);
		assertThat(this.events).containsExactly("acquire");
		this.source.complete("done");
		assertThat(this.events).containsExactly("acquire", "release");
	}

	@Test
	void stageThatCannotBeFollowedReleasesAndSaysSo() {
		CompletableFuture<String> broken = new CompletableFuture<>() {

			@Override
			public CompletableFuture<String> whenComplete(
					java.util.function.BiConsumer<? super String, ? super Throwable> action) {
				throw new AssertionError("broken");
			}

		};
		assertThatThrownBy(() -> this.service.future(() -> broken)).hasMessage("broken");
		assertThat(this.events).containsExactly("acquire", "release");
	}

	static class Special extends CompletableFuture<String> {

	}

	static class Service {

		@DistributedLock
		public CompletableFuture<String> future(Supplier<CompletableFuture<String>> action) {
			return action.get();
		}

		@DistributedLock(onLost = OnLost.THROW)
		public CompletableFuture<String> checked(Supplier<CompletableFuture<String>> action) {
			return action.get();
		}

		@DistributedLock
		public CompletionStage<String> stage(Supplier<CompletionStage<String>> action) {
			return action.get();
		}

		@DistributedLock
		public Special special(Special special) {
			return special;
		}

		@DistributedLock
		public Object general(Object result) {
			return result;
		}

	}

}
