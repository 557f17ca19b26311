package io.github.distributedlock.aop;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * Lets no transaction commit inside a method whose lock was lost, if the annotation says
 * {@link io.github.distributedlock.annotation.OnLost#THROW}: the commit fails with
 * {@link io.github.distributedlock.LockLostException}, and the transaction is rolled
 * back. The auto-configuration registers the guard with each transaction manager that is
 * a bean.
 * <p>
 * The guard checks the lock right before the commit, after all synchronizations.
 * Releasing a savepoint is no commit yet, and passes.
 */
final class CommitGuard implements TransactionExecutionListener {

	@Override
	public void beforeCommit(TransactionExecution transaction) {
		if (transaction.isNewTransaction()) {
			RunningCall.checkCommit();
		}
	}

}
