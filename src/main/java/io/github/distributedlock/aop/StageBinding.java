package io.github.distributedlock.aop;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;

/**
 * Keeps a lock until the stage that the method returned has completed.
 */
final class StageBinding {

	private StageBinding() {
	}

	/**
	 * Lets a stage take part in the release, instead of the method that returned it.
	 * @param stage the method's result, not null
	 * @return what to return: where the type allows, a future that completes as the stage
	 * does, but after the release, so that code that waits for it finds the lock free.
	 * (It does not wait for a transaction that holds the lock, too: that may wait for
	 * it.)
	 */
	static CompletionStage<?> attach(CompletionStage<?> stage, LockDefinition definition, PendingRelease release) {
		boolean replaceable = isReplaceable(stage, definition.annotated().resultType());
		AfterRelease after = new AfterRelease(stage);
		release.join();
		boolean followed = false;
		try {
			stage.whenComplete((value, thrown) -> {
				Throwable failure = definition.lossReaction().outcome(thrown, release.handle());
				release.doneAsync().whenComplete((released, ignored) -> after.completeAs(value, failure));
			});
			followed = true;
		}
		finally {
			if (!followed) {
				release.done();
			}
		}
		return replaceable ? after : stage;
	}

	/*
	 * The caller of a method that declares Object, or a type variable, may know the type.
	 */
	private static boolean isReplaceable(CompletionStage<?> stage, Class<?> declared) {
		return declared.isAssignableFrom(CompletableFuture.class)
				&& (CompletionStage.class.isAssignableFrom(declared) || stage.getClass() == CompletableFuture.class);
	}

	/**
	 * Whether the result has to be followed: not if it is there already, unless a loss is
	 * to take its place.
	 */
	static boolean isNeeded(CompletionStage<?> stage, LockDefinition definition) {
		return definition.lossReaction().fails() || !(stage instanceof CompletableFuture<?> future && future.isDone());
	}

	/**
	 * Completes with the very exception of its source, which a dependent stage would
	 * wrap, and passes a cancellation on.
	 */
	private static final class AfterRelease extends CompletableFuture<@Nullable Object> {

		private final CompletionStage<?> source;

		private AfterRelease(CompletionStage<?> source) {
			this.source = source;
		}

		private void completeAs(@Nullable Object value, @Nullable Throwable failure) {
			if (failure != null) {
				completeExceptionally(failure);
			}
			else {
				complete(value);
			}
		}

		@Override
		public boolean cancel(boolean mayInterruptIfRunning) {
			if (this.source instanceof Future<?> future) {
				future.cancel(mayInterruptIfRunning);
			}
			return super.cancel(mayInterruptIfRunning);
		}

		@Override
		public <U> CompletableFuture<U> newIncompleteFuture() {
			return new CompletableFuture<>();
		}

	}

}
