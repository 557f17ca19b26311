package io.github.distributedlock.aop;

import java.util.List;

import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

/**
 * Transactions on nothing, written down beside the lock's events.
 */
class RecordingTransactionManager extends AbstractPlatformTransactionManager {

	private static final ThreadLocal<Boolean> EXISTING = new ThreadLocal<>();

	private final List<String> events;

	RecordingTransactionManager(List<String> events) {
		this.events = events;
	}

	@Override
	protected Object doGetTransaction() {
		return new Object();
	}

	@Override
	protected boolean isExistingTransaction(Object transaction) {
		return EXISTING.get() != null;
	}

	@Override
	protected void doBegin(Object transaction, TransactionDefinition definition) {
		EXISTING.set(true);
		this.events.add("begin");
	}

	@Override
	protected Object doSuspend(Object transaction) {
		EXISTING.remove();
		return true;
	}

	@Override
	protected void doResume(Object transaction, Object suspended) {
		EXISTING.set(true);
	}

	@Override
	protected void doCommit(DefaultTransactionStatus status) {
		this.events.add("commit");
	}

	@Override
	protected void doRollback(DefaultTransactionStatus status) {
		this.events.add("rollback");
	}

	@Override
	protected void doSetRollbackOnly(DefaultTransactionStatus status) {
	}

	@Override
	protected void doCleanupAfterCompletion(Object transaction) {
		EXISTING.remove();
	}

}
