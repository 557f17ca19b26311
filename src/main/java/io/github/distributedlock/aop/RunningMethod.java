package io.github.distributedlock.aop;

import org.jspecify.annotations.Nullable;

/**
 * A method that runs on the calling thread and may be interrupted until it ends.
 *
 * <pre>
 *   RUNNING ──► INTERRUPTED
 *      │             │
 *      └──► ENDED ◄──┘
 * </pre>
 *
 * Invariants: the thread is interrupted only while the method runs, inside the monitor
 * that the nested methods of a thread share, so that the end of the method waits for an
 * interrupt under way and none comes after it. The end clears the thread's flag if and
 * only if this was the last of them to set it.
 * <p>
 * A thread has one flag, and the code that reacts to it clears it. So where two nested
 * methods are to be interrupted, the inner one may take the interrupt of both, whichever
 * came first. The outer one is then owed an interrupt, until the inner one has ended.
 */
final class RunningMethod implements AutoCloseable {

	private enum State {

		RUNNING, INTERRUPTED, ENDED

	}

	private static final ThreadLocal<@Nullable RunningMethod> INNERMOST = new ThreadLocal<>();

	private final Thread thread = Thread.currentThread();

	private final @Nullable RunningMethod outer = INNERMOST.get();

	private final Nest nest = (this.outer != null) ? this.outer.nest : new Nest();

	private State state = State.RUNNING;

	/**
	 * Whether it was interrupted while another method ran inside of it, and one still
	 * does.
	 */
	private boolean owed;

	private RunningMethod() {
	}

	/**
	 * A method begins; to be closed by the same thread when it has ended.
	 */
	static RunningMethod begin() {
		RunningMethod method = new RunningMethod();
		INNERMOST.set(method);
		synchronized (method.nest) {
			method.nest.innermost = method;
		}
		return method;
	}

	/**
	 * Interrupts the method unless it has ended; from any thread.
	 */
	void interrupt() {
		synchronized (this.nest) {
			if (this.state != State.RUNNING) {
				return;
			}
			this.state = State.INTERRUPTED;
			this.owed = (this.nest.innermost != this);
			setFlag();
		}
	}

	/**
	 * A flag that is set already stays that of the code that has set it.
	 */
	private void setFlag() {
		if (!this.thread.isInterrupted()) {
			this.nest.flagSetter = this;
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
		synchronized (this.nest) {
			if (this.nest.flagSetter == this) {
				Thread.interrupted();
			}
			RunningMethod owed = (this.state == State.INTERRUPTED) ? innermostOwed() : null;
			if (owed != null) {
				owed.setFlag();
			}
			this.state = State.ENDED;
			this.nest.innermost = this.outer;
			if (this.outer != null) {
				this.outer.owed = false;
			}
		}
	}

	private @Nullable RunningMethod innermostOwed() {
		RunningMethod around = this.outer;
		while (around != null && !around.owed) {
			around = around.outer;
		}
		return around;
	}

	/**
	 * What the nested methods of a thread share, and their monitor.
	 */
	private static final class Nest {

		private @Nullable RunningMethod innermost;

		/**
		 * Which of them was the last to set the thread's flag.
		 */
		private @Nullable RunningMethod flagSetter;

	}

}
