package io.github.distributedlock.internal.reactive;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.OnLost;
import io.github.distributedlock.internal.LossOutcome;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.ContextView;

import org.springframework.transaction.reactive.TransactionContext;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;

/**
 * Closes a handle, without blocking, when the last party that needs the lock is done. The
 * parties are the stream; the thread that calls the method and subscribes to its result,
 * which a cancellation by another thread does not stop; and the transaction that was
 * running before.
 * <p>
 * Invariants: {@code parties} is the number of parties not yet done. The number starts
 * with the stream and the thread, and grows only before the thread is done. If the method
 * was never called, the lock is released as if it had never been held. Code that waits
 * for the release goes on in Reactor's parallel scheduler, or at once.
 */
final class PendingClose {

	private final LockHandle handle;

	private final LockedInvocation invocation;

	private final AtomicInteger parties = new AtomicInteger(2);

	private final CompletableFuture<@Nullable Void> closed = new CompletableFuture<>();

	private volatile boolean used;

	private volatile boolean streamIsOver;

	private volatile boolean inTransaction;

	PendingClose(LockHandle handle, LockedInvocation invocation) {
		this.handle = handle;
		this.invocation = invocation;
	}

	LockHandle handle() {
		return this.handle;
	}

	/**
	 * Notes that the method is about to be called.
	 */
	void use() {
		this.used = true;
	}

	/**
	 * Makes the running transaction a party, if there is one: a lock that is released
	 * before the commit lets the next owner read uncommitted data.
	 */
	void joinTransaction(ContextView context) {
		TransactionContext known = context.<@Nullable TransactionContext>getOrDefault(TransactionContext.class, null);
		if (known == null) {
			return;
		}
		TransactionSynchronizationManager transaction = new TransactionSynchronizationManager(known);
		// Locks that are asked for together come on different threads.
		synchronized (known) {
			if (!transaction.isActualTransactionActive() || !transaction.isSynchronizationActive()) {
				return;
			}
			this.invocation.joinsTransaction();
			transaction.registerSynchronization(new Participation(known));
		}
		// After all calls that may fail. The calling thread is a party until then.
		this.parties.incrementAndGet();
		this.inTransaction = true;
	}

	/**
	 * Ends the stream's part. Throws nothing.
	 * @return completes when the end of the stream may be signalled: when the lock was
	 * released, or at once if a transaction holds the lock, since that transaction may
	 * wait for the stream
	 */
	CompletableFuture<@Nullable Void> leaveStream() {
		this.streamIsOver = true;
		leave();
		return this.inTransaction ? CompletableFuture.completedFuture(null) : this.closed;
	}

	/**
	 * Ends a party's part. Throws nothing.
	 */
	void leave() {
		if (this.parties.decrementAndGet() > 0) {
			return;
		}
		try {
			if (!this.used) {
				this.handle.undo();
			}
			else {
				CompletableFuture<?> closing = this.handle.closeAsync();
				if (!closing.isDone()) {
					closing.whenComplete((done, ignored) -> runInParallel(() -> this.closed.complete(null)));
					return;
				}
			}
		}
		catch (Throwable ex) {
			// The engine reports this failure.
		}
		this.closed.complete(null);
	}

	/**
	 * Runs a task in Reactor's parallel scheduler, once. If the scheduler refuses, the
	 * calling thread runs the task.
	 */
	static void runInParallel(Runnable task) {
		Runnable once = new FutureTask<>(task, null);
		try {
			Schedulers.parallel().schedule(once);
		}
		catch (Throwable ex) {
			once.run(); // Better here than never. The task may have been queued.
		}
	}

	/**
	 * Releases the lock after the completion of a transaction. Synchronizations of the
	 * same order run as they were registered. So the synchronization that releases is
	 * registered at the last moment, in {@code beforeCompletion}. A lock that is taken
	 * after the commit has missed that moment, and the first synchronization releases the
	 * lock. A lost lock fails the transaction before the commit.
	 */
	private final class Participation implements TransactionSynchronization {

		private final TransactionContext transaction;

		private volatile boolean passedOn;

		private Participation(TransactionContext transaction) {
			this.transaction = transaction;
		}

		@Override
		public Mono<Void> beforeCommit(boolean readOnly) {
			return Mono.defer(() -> {
				Throwable loss = (PendingClose.this.invocation.onLost() == OnLost.THROW)
						? LossOutcome.of(null, PendingClose.this.handle) : null;
				return (loss != null) ? Mono.error(loss) : Mono.empty();
			});
		}

		@Override
		public Mono<Void> beforeCompletion() {
			return Mono.fromRunnable(() -> {
				synchronized (this.transaction) {
					new TransactionSynchronizationManager(this.transaction)
						.registerSynchronization(new Participation(this.transaction));
				}
				this.passedOn = true;
			});
		}

		/*
		 * Waits for the release if the stream is over: then the release waits for nothing
		 * but the calling thread, at most. A stream that goes on is not waited for.
		 */
		@Override
		public Mono<Void> afterCompletion(int status) {
			return this.passedOn ? Mono.empty() : Mono.defer(() -> {
				leave();
				// The future is not cancelled with the subscription: others wait for the
				// future, too.
				return PendingClose.this.streamIsOver ? Mono.fromFuture(PendingClose.this.closed, true) : Mono.empty();
			});
		}

	}

}
