package io.github.distributedlock.aop;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;

import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.internal.Binding;
import io.github.distributedlock.internal.LossOutcome;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Closes a handle when the last party that needs the lock is done. The parties are the
 * method itself, the transaction in which the method was called, and the stage that the
 * method returned.
 * <p>
 * Invariant: {@code parties} is the number of parties not yet done. The number starts
 * with the method, grows only while the method runs, and the party that takes the number
 * to zero closes the handle.
 */
final class PendingRelease implements AutoCloseable {

	private final LockHandle handle;

	private int parties = 1;

	private boolean inTransaction;

	/**
	 * Holds whether the method is the last party on its thread. The other parties are
	 * then elsewhere, and the thread must not re-enter their lock.
	 */
	private boolean leavesThread;

	PendingRelease(LockHandle handle) {
		this.handle = handle;
	}

	/**
	 * Returns whether there is a transaction to wait for: a lock that is released before
	 * the commit lets the next owner read uncommitted data. Once the completion callbacks
	 * of a transaction have begun, there is nothing left to wait for, and Spring's
	 * synchronization is no longer active.
	 */
	static boolean hasTransaction() {
		return TransactionSynchronizationManager.isActualTransactionActive()
				&& TransactionSynchronizationManager.isSynchronizationActive();
	}

	/**
	 * Makes the running transaction a party.
	 * @param failsIfLost whether the commit fails once the lock is lost
	 */
	void joinTransaction(boolean failsIfLost) {
		TransactionSynchronizationManager.registerSynchronization(new Participation(failsIfLost));
		count(1);
		this.inTransaction = true;
	}

	/**
	 * Makes the stage that the method returned a party, unless the stage is complete
	 * already and no loss can take its place.
	 * @return the result for the caller: where the type allows, a future that completes
	 * as the stage does, but after the release, so that code that waits for the future
	 * finds the lock free. (The future does not wait for a transaction that holds the
	 * lock, too: that transaction may wait for the future.)
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
				// The failure of the stage itself is passed on; a dependent stage would
				// wrap the exception.
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
	 * Returns whether another future may be returned in place of the stage. The caller of
	 * a method that declares Object, or a type variable, may rely on the stage's own
	 * type.
	 */
	private static boolean isReplaceable(CompletionStage<?> stage, Class<?> declared) {
		return declared.isAssignableFrom(CompletableFuture.class)
				&& (CompletionStage.class.isAssignableFrom(declared) || stage.getClass() == CompletableFuture.class);
	}

	/**
	 * Ends the method's part.
	 */
	@Override
	public void close() {
		if (this.leavesThread) {
			Binding.unbind(this.handle);
		}
		done();
	}

	private void done() {
		if (count(-1) == 0) {
			this.handle.close();
		}
	}

	/*
	 * Ends a party on a thread that must not block. Throws nothing.
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
	 * Releases the lock after the completion of a transaction. Synchronizations of the
	 * same order run as they were registered, and by default all of them say that they
	 * are last. So the synchronization that releases is registered at the last moment, in
	 * {@code beforeCompletion}. A lock that is taken after the commit has missed that
	 * moment, and the first synchronization releases the lock. A lost lock fails the
	 * transaction before the commit.
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
				LossOutcome.throwIfLost(PendingRelease.this.handle);
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
				Binding.unbind(PendingRelease.this.handle);
				done();
			}
		}

	}

}
