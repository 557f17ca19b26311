package io.github.distributedlock.aop;

import java.lang.reflect.Method;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.github.distributedlock.LockHandle;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Keeps a lock that was taken inside a transaction until that transaction has completed:
 * released earlier, the next owner would read what is not yet committed.
 */
final class TransactionBinding {

	private static final Logger logger = LoggerFactory.getLogger(DistributedLockAdvisor.class);

	private final Set<Method> warned = ConcurrentHashMap.newKeySet();

	/**
	 * Lets the running transaction, if there is one, take part in the release. After its
	 * completion callbacks have begun there is nothing left to wait for, and Spring says
	 * so: synchronization is not active there.
	 * @return the release, {@code null} if there is none
	 */
	@Nullable PendingRelease join(LockHandle handle, LockDefinition definition) {
		if (!TransactionSynchronizationManager.isActualTransactionActive()
				|| !TransactionSynchronizationManager.isSynchronizationActive()) {
			return null;
		}
		warn(definition.annotated());
		PendingRelease release = new PendingRelease(handle);
		TransactionSynchronizationManager
			.registerSynchronization(new Registration(release, definition.lossReaction().fails()));
		release.join();
		return release;
	}

	/**
	 * Warns, once for each method, that it is called inside a transaction.
	 */
	void warn(AnnotatedMethod annotated) {
		if (this.warned.add(annotated.method())) {
			logger.warn("{}: called inside a running transaction, so that the lock is held until that "
					+ "transaction has completed; to hold it for the method alone, call it before the transaction "
					+ "begins", annotated);
		}
	}

	/**
	 * Synchronizations of the same order run as they were registered, and by default all
	 * of them say that they are last. So the one that releases is registered at the last
	 * moment. A lock that is taken after the commit has missed that moment and is
	 * released from here. What must fail when the lock is lost fails before the commit.
	 */
	private static final class Registration implements TransactionSynchronization {

		private final PendingRelease release;

		private final boolean failsIfLost;

		private boolean passedOn;

		private Registration(PendingRelease release, boolean failsIfLost) {
			this.release = release;
			this.failsIfLost = failsIfLost;
		}

		@Override
		public void beforeCommit(boolean readOnly) {
			if (this.failsIfLost) {
				LossCheck.throwIfLost(this.release.handle());
			}
		}

		@Override
		public void beforeCompletion() {
			TransactionSynchronizationManager.registerSynchronization(new Release(this.release));
			this.passedOn = true;
		}

		@Override
		public void afterCompletion(int status) {
			if (!this.passedOn) {
				this.release.doneHere();
			}
		}

	}

	private record Release(PendingRelease release) implements TransactionSynchronization {

		@Override
		public void afterCompletion(int status) {
			this.release.doneHere();
		}

	}

}
