package io.github.distributedlock.aop;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;

import io.github.distributedlock.CurrentLock;
import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.LockHandle;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Closes a handle when the last of those that need it is done: the method itself, the
 * transaction that it was called in, the stage that it returned.
 * <p>
 * Invariant: the number is that of the parties not yet done. It starts with the method,
 * grows only while the method runs, and the party that takes it to zero closes.
 */
final class PendingRelease implements AutoCloseable {

	private final LockHandle handle;

	private int parties = 1;

	private boolean inTransaction;

	/**
	 * Whether the method is the last party on its thread. Then the others are elsewhere,
	 * and the thread must not re-enter their lock.
	 */
	private boolean leavesThread;

	PendingRelease(LockHandle handle) {
		this.handle = handle;
	}

	/**
	 * Whether a transaction is there to wait for: a lock that is released earlier lets
	 * the next owner read what is not yet committed. After its completion callbacks have
	 * begun there is nothing left to wait for, and Spring says so: synchronization is not
	 * active there.
	 */
	static boolean hasTransaction() {
		return TransactionSynchronizationManager.isActualTransactionActive()
				&& TransactionSynchronizationManager.isSynchronizationActive();
	}

	/**
	 * Lets the running transaction take part.
	 * @param failsIfLost whether it is not to commit once the lock is lost
	 */
	void joinTransaction(boolean failsIfLost) {
		TransactionSynchronizationManager.registerSynchronization(new Participation(failsIfLost));
		count(1);
		this.inTransaction = true;
	}

	/**
	 * Lets the stage that the method returned take part, unless it is complete already
	 * and no loss is to take its place.
	 * @return what to return: where the type allows, a future that completes as the stage
	 * does, but after the release, so that code that waits for it finds the lock free.
	 * (It does not wait for a transaction that holds the lock, too: that may wait for
	 * it.)
	 */
	CompletionStage<?> follow(CompletionStage<?> stage, LockDefinition definition) {
		LossReaction reaction = definition.lossReaction();
		if (!reaction.fails() && stage instanceof CompletableFuture<?> future && future.isDone()) {
			if (!future.isCompletedExceptionally()) {
				definition.results().checkContent(future.join());
			}
			return stage;
		}
		CompletableFuture<@Nullable Object> after = new CompletableFuture<>();
		count(1);
		try {
			stage.whenComplete((value, thrown) -> {
				Throwable failure = outcome(reaction.outcome(thrown, this.handle), value, definition);
				// With the very exception of the stage, which a dependent stage would
				// wrap.
				doneAsync().whenComplete((released, ignored) -> {
					if (failure == null || !after.completeExceptionally(failure)) {
						after.complete(value);
					}
				});
			});
		}
		catch (Throwable ex) {
			done();
			throw ex;
		}
		this.leavesThread = !this.inTransaction;
		boolean replaceable = isReplaceable(stage, definition.annotated().resultType());
		try {
			reaction.checkStage(definition.annotated(), stage.getClass(), replaceable);
		}
		catch (LockDefinitionException ex) {
			throw new IllegalStateException(ex.getMessage());
		}
		if (!replaceable) {
			return stage;
		}
		after.whenComplete((value, failure) -> {
			if (after.isCancelled() && stage instanceof Future<?> source) {
				source.cancel(true);
			}
		});
		return after;
	}

	private static @Nullable Throwable outcome(@Nullable Throwable failure, @Nullable Object value,
			LockDefinition definition) {
		try {
			definition.results().checkContent((failure == null) ? value : null);
			return failure;
		}
		catch (Throwable outliving) {
			return outliving;
		}
	}

	/*
	 * The caller of a method that declares Object, or a type variable, may know the type.
	 */
	private static boolean isReplaceable(CompletionStage<?> stage, Class<?> declared) {
		return declared.isAssignableFrom(CompletableFuture.class)
				&& (CompletionStage.class.isAssignableFrom(declared) || stage.getClass() == CompletableFuture.class);
	}

	/**
	 * The method has ended.
	 */
	@Override
	public void close() {
		if (this.leavesThread) {
			CurrentLock.unbind(this.handle);
		}
		done();
	}

	private void done() {
		if (count(-1) == 0) {
			this.handle.close();
		}
	}

	/*
	 * On a thread that is not to be blocked. Throws nothing.
	 */
	private CompletableFuture<Void> doneAsync() {
		if (count(-1) > 0) {
			return CompletableFuture.completedFuture(null);
		}
		try {
			return Objects.requireNonNull(this.handle.closeAsync(), "closeAsync of a mock");
		}
		catch (Throwable ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	private synchronized int count(int joining) {
		this.parties += joining;
		return this.parties;
	}

	/**
	 * Synchronizations of the same order run as they were registered, and by default all
	 * of them say that they are last. So the one that releases is registered at the last
	 * moment. A lock that is taken after the commit has missed that moment, and the first
	 * one releases it. What must fail when the lock is lost fails before the commit.
	 */
	private final class Participation implements TransactionSynchronization {

		private final boolean failsIfLost;

		private boolean passedOn;

		private Participation(boolean failsIfLost) {
			this.failsIfLost = failsIfLost;
		}

		@Override
		public void beforeCommit(boolean readOnly) {
			if (this.failsIfLost) {
				LossReaction.throwIfLost(PendingRelease.this.handle);
			}
		}

		@Override
		public void beforeCompletion() {
			TransactionSynchronizationManager.registerSynchronization(new Participation(this.failsIfLost));
			this.passedOn = true;
		}

		@Override
		public void afterCompletion(int status) {
			if (!this.passedOn) {
				CurrentLock.unbind(PendingRelease.this.handle);
				done();
			}
		}

	}

}
