package io.github.distributedlock.aop;

import io.github.distributedlock.LockHandle;
import org.jspecify.annotations.Nullable;

/**
 * A method that runs on the calling thread, and that a loss of its lock concerns until it
 * ends: it may be interrupted, or no transaction inside of it is to commit.
 * <p>
 * Invariants: the thread is interrupted only while the method runs, inside the monitor
 * that the nested methods of a thread share, the outermost one. So the end of the method
 * waits for an interrupt under way, and none comes after it. The end clears the thread's
 * flag if and only if this was the last of them to set it.
 * <p>
 * A thread has one flag, and the code that reacts to it clears it. So where two nested
 * methods are to be interrupted, the inner one may take the interrupt of both, whichever
 * came first. The outer one is then owed an interrupt, until the inner one has ended.
 */
final class RunningCall implements AutoCloseable {

	private static final ThreadLocal<@Nullable RunningCall> INNERMOST = new ThreadLocal<>();

	private final LockHandle handle;

	private final boolean failsCommits;

	private final Thread thread = Thread.currentThread();

	private final @Nullable RunningCall outer = INNERMOST.get();

	private final RunningCall outermost = (this.outer != null) ? this.outer.outermost : this;

	/**
	 * Of the outermost one: the innermost, and the last to set the thread's flag.
	 */
	private @Nullable RunningCall innermost;

	private @Nullable RunningCall flagSetter;

	private boolean interrupted;

	/**
	 * Whether it was interrupted while another method ran inside of it, and one still
	 * does.
	 */
	private boolean interruptPending;

	private boolean ended;

	/**
	 * A method begins; to be closed by the same thread when it has ended.
	 * @param failsCommits whether no transaction is to commit inside of it once its lock
	 * is lost
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
				LossReaction.throwIfLost(call.handle);
			}
		}
	}

	/**
	 * Interrupts the method unless it has ended; from any thread.
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
	 * A flag that is set already stays that of the code that has set it.
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

}
