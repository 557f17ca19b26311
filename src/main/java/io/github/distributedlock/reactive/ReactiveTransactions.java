package io.github.distributedlock.reactive;

import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.LockHandle;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.context.ContextView;

import org.springframework.transaction.reactive.TransactionContext;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;

/**
 * Keeps a lock that was taken inside a reactive transaction until that has completed:
 * released earlier, the next owner would read what is not yet committed.
 */
final class ReactiveTransactions {

	private ReactiveTransactions() {
	}

	/**
	 * Lets the running transaction, if there is one, take part in the release.
	 * @param release the release, of which it becomes a party
	 * @return whether there is one
	 */
	static boolean join(ContextView context, LockHandle handle, LockedInvocation invocation, PendingClose release) {
		TransactionContext known = context.<@Nullable TransactionContext>getOrDefault(TransactionContext.class, null);
		if (known == null) {
			return false;
		}
		TransactionSynchronizationManager transaction = new TransactionSynchronizationManager(known);
		// Locks that are asked for together come on different threads.
		synchronized (known) {
			if (!transaction.isActualTransactionActive() || !transaction.isSynchronizationActive()) {
				return false;
			}
			invocation.joinsTransaction();
			transaction.registerSynchronization(new Registration(known, handle, invocation, release));
		}
		// After what may fail. The calling thread is a party until then.
		release.join();
		return true;
	}

	/**
	 * Synchronizations of the same order run as they were registered. So the one that
	 * releases is registered at the last moment. A lock that is taken after the commit
	 * has missed that moment and is released from here. What must fail when the lock is
	 * lost fails before the commit.
	 */
	private static final class Registration implements TransactionSynchronization {

		private final TransactionContext transaction;

		private final LockHandle handle;

		private final LockedInvocation invocation;

		private final PendingClose release;

		private volatile boolean passedOn;

		private Registration(TransactionContext transaction, LockHandle handle, LockedInvocation invocation,
				PendingClose release) {
			this.transaction = transaction;
			this.handle = handle;
			this.invocation = invocation;
			this.release = release;
		}

		@Override
		public Mono<Void> beforeCommit(boolean readOnly) {
			return Mono.defer(() -> {
				Throwable loss = this.invocation.lossFails() ? this.invocation.outcome(null, this.handle) : null;
				return (loss != null) ? Mono.error(loss) : Mono.empty();
			});
		}

		@Override
		public Mono<Void> beforeCompletion() {
			return Mono.fromRunnable(() -> {
				synchronized (this.transaction) {
					new TransactionSynchronizationManager(this.transaction)
						.registerSynchronization(new Release(this.release));
				}
				this.passedOn = true;
			});
		}

		@Override
		public Mono<Void> afterCompletion(int status) {
			return this.passedOn ? Mono.empty() : released(this.release);
		}

	}

	private record Release(PendingClose release) implements TransactionSynchronization {

		@Override
		public Mono<Void> afterCompletion(int status) {
			return released(this.release);
		}

	}

	/**
	 * The transaction is done with the lock. It waits for the release, but not for a
	 * stream that goes on without it.
	 */
	private static Mono<Void> released(PendingClose release) {
		return Mono.defer(() -> {
			CompletableFuture<@Nullable Void> closed = release.leave();
			// Not cancelled with the subscription: others wait for it, too.
			return release.streamIsOver() ? Mono.fromFuture(closed, true) : Mono.empty();
		});
	}

}
