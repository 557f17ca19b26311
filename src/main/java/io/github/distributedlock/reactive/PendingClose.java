package io.github.distributedlock.reactive;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.LockHandle;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

import org.springframework.transaction.reactive.TransactionContext;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;

/**
 * Closes a handle, without blocking, when the last of those that need it is done: the
 * stream, the thread that calls the method and subscribes to its result, which a
 * cancellation by another thread does not stop, and the transaction that was there
 * before.
 * <p>
 * Invariants: the number is that of the parties not yet done. It starts with the stream
 * and the thread, and grows only before the latter is done. If the method was never
 * called, the lock is released as if it had never been held. What waits for the release
 * goes on in Reactor's parallel scheduler, or at once.
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
	 * The method is about to be called.
	 */
	void use() {
		this.used = true;
	}

	/**
	 * Lets the running transaction, if there is one, take part: a lock that is released
	 * earlier lets the next owner read what is not yet committed.
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
		// After what may fail. The calling thread is a party until then.
		this.parties.incrementAndGet();
		this.inTransaction = true;
	}

	/**
	 * The stream is done. Throws nothing.
	 * @return what completes when it may be told so: when the lock was released, or at
	 * once if a transaction holds it, which may wait for the stream
	 */
	CompletableFuture<@Nullable Void> leaveStream() {
		this.streamIsOver = true;
		leave();
		return this.inTransaction ? CompletableFuture.completedFuture(null) : this.closed;
	}

	/**
	 * A party is done. Throws nothing.
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
					closing.whenComplete(
							(done, ignored) -> LockedSubscription.runInParallel(() -> this.closed.complete(null)));
					return;
				}
			}
		}
		catch (Throwable ex) {
			// It is for the engine to tell of.
		}
		this.closed.complete(null);
	}

	/**
	 * Synchronizations of the same order run as they were registered. So the one that
	 * releases is registered at the last moment. A lock that is taken after the commit
	 * has missed that moment, and the first one releases it. What must fail when the lock
	 * is lost fails before the commit.
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
				LockedInvocation invocation = PendingClose.this.invocation;
				Throwable loss = invocation.lossFails() ? invocation.outcome(null, PendingClose.this.handle) : null;
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
		 * It waits for the release, but not for a stream that goes on without it. Then
		 * the release waits for nothing but the thread, at most.
		 */
		@Override
		public Mono<Void> afterCompletion(int status) {
			return this.passedOn ? Mono.empty() : Mono.defer(() -> {
				leave();
				// Not cancelled with the subscription: others wait for it, too.
				return PendingClose.this.streamIsOver ? Mono.fromFuture(PendingClose.this.closed, true) : Mono.empty();
			});
		}

	}

}
