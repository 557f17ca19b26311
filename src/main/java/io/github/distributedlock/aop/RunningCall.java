package io.github.distributedlock.aop;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.internal.LossOutcome;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * A method that runs on the calling thread. A loss of the lock concerns the method until
 * the method ends: the loss may interrupt the method, or forbid transactions inside of
 * the method to commit.
 * <p>
 * Invariants: the thread is interrupted only while the method runs, inside the monitor
 * that the nested methods of a thread share, that of the outermost call. So the end of
 * the method waits for an interrupt under way, and no interrupt comes after the end. The
 * end clears the thread's flag if and only if this call was the last of them to set the
 * flag.
 * <p>
 * A thread has one flag, and the code that reacts to the flag clears it. So where two
 * nested methods are to be interrupted, the inner method may take the interrupt of both,
 * whichever came first. The outer method is then owed an interrupt, until the inner
 * method has ended.
 */
final class RunningCall implements AutoCloseable {

	private static final ThreadLocal<@Nullable RunningCall> INNERMOST = new ThreadLocal<>();

	private final LockHandle handle;

	private final boolean failsCommits;

	private final Thread thread = Thread.currentThread();

	private final @Nullable RunningCall outer = INNERMOST.get();

	private final RunningCall outermost = (this.outer != null) ? this.outer.outermost : this;

	/**
	 * The innermost call and, below, the last call to set the thread's flag. Only the
	 * outermost call uses these two fields.
	 */
	private @Nullable RunningCall innermost;

	private @Nullable RunningCall flagSetter;

	private boolean interrupted;

	/**
	 * Holds whether the method was interrupted during a nested method, and a nested
	 * method still runs.
	 */
	private boolean interruptPending;

	private boolean ended;

	/**
	 * Begins a method. The same thread closes this object when the method has ended.
	 * @param failsCommits whether no transaction is to commit inside of the method once
	 * the method's lock is lost
	 */
	RunningCall(LockHandle handle, boolean failsCommits) {
		this.handle = handle;
		this.failsCommits = failsCommits;
		INNERMOST.set(this);
		synchronized (this.outermost) {
			this.outermost.innermost = this;
		}
	}

	/**
	 * Throws if a method of the calling thread has lost its lock, and no transaction may
	 * commit inside of that method then.
	 */
	static void checkCommit() {
		for (RunningCall call = INNERMOST.get(); call != null; call = call.outer) {
			if (call.failsCommits) {
				LossOutcome.throwIfLost(call.handle);
			}
		}
	}

	/**
	 * Interrupts the method unless the method has ended. Any thread may call this.
	 */
	void interrupt() {
		synchronized (this.outermost) {
			if (!this.interrupted && !this.ended) {
				this.interrupted = true;
				this.interruptPending = this.outermost.innermost != this;
				setFlag();
			}
		}
	}

	/**
	 * Sets the thread's flag. A flag that is set already belongs to the code that has set
	 * it.
	 */
	private void setFlag() {
		if (!this.thread.isInterrupted()) {
			this.outermost.flagSetter = this;
			this.thread.interrupt();
		}
	}

	@Override
	public void close() {
		if (this.outer == null) {
			INNERMOST.remove();
		}
		else {
			INNERMOST.set(this.outer);
		}
		synchronized (this.outermost) {
			if (this.outermost.flagSetter == this) {
				Thread.interrupted();
			}
			RunningCall around = this.interrupted ? this.outer : null;
			while (around != null && !around.interruptPending) {
				around = around.outer;
			}
			if (around != null) {
				around.setFlag();
			}
			this.ended = true;
			this.outermost.innermost = this.outer;
			if (this.outer != null) {
				this.outer.interruptPending = false;
			}
		}
	}

	/**
	 * Lets no transaction commit inside a method whose lock was lost, if the annotation
	 * says {@link io.github.distributedlock.OnLost#THROW}: the commit fails with
	 * {@link io.github.distributedlock.LockLostException}, and the transaction is rolled
	 * back. The auto-configuration registers the guard with each transaction manager that
	 * is a bean.
	 * <p>
	 * The guard checks the lock right before the commit, after all synchronizations.
	 * Releasing a savepoint is no commit yet, and passes.
	 */
	static final class CommitGuard implements TransactionExecutionListener {

		@Override
		public void beforeCommit(TransactionExecution transaction) {
			if (transaction.isNewTransaction()) {
				checkCommit();
			}
		}

	}

}
