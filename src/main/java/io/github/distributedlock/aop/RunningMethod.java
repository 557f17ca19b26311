package io.github.distributedlock.aop;

import org.jspecify.annotations.Nullable;

/**
 * A method that runs on the calling thread and may be interrupted until it ends.
 *
 * <pre>
 *   RUNNING ──────► INTERRUPTED, or JOINED if the thread was interrupted already
 *      │                 │
 *      └────► ENDED ◄────┘
 * </pre>
 *
 * Invariants: the thread is interrupted only by the step to INTERRUPTED, inside the
 * monitor, so that the end of the method waits for an interrupt under way and none comes
 * after it. The nested methods of a thread share one monitor. The end clears the thread's
 * flag if and only if this was the last of them to set it, and hands it on to the
 * innermost of those around it that have joined.
 */
final class RunningMethod implements AutoCloseable {

	private enum State {

		RUNNING, INTERRUPTED, JOINED, ENDED

	}

	private static final ThreadLocal<@Nullable RunningMethod> INNERMOST = new ThreadLocal<>();

	private final Thread thread = Thread.currentThread();

	private final @Nullable RunningMethod outer = INNERMOST.get();

	private final Flag flag = (this.outer != null) ? this.outer.flag : new Flag();

	private State state = State.RUNNING;

	private RunningMethod() {
	}

	/**
	 * A method begins; to be closed by the same thread when it has ended.
	 */
	static RunningMethod begin() {
		RunningMethod method = new RunningMethod();
		INNERMOST.set(method);
		return method;
	}

	/**
	 * Interrupts the method unless it has ended; from any thread.
	 */
	void interrupt() {
		synchronized (this.flag) {
			if (this.state != State.RUNNING) {
				return;
			}
			if (this.thread.isInterrupted()) {
				this.state = State.JOINED;
			}
			else {
				setFlag();
			}
		}
	}

	private void setFlag() {
		this.state = State.INTERRUPTED;
		this.flag.setter = this;
		this.thread.interrupt();
	}

	@Override
	public void close() {
		if (this.outer == null) {
			INNERMOST.remove();
		}
		else {
			INNERMOST.set(this.outer);
		}
		synchronized (this.flag) {
			this.state = State.ENDED;
			if (this.flag.setter == this && Thread.interrupted()) {
				handOn();
			}
		}
	}

	private void handOn() {
		RunningMethod around = this.outer;
		while (around != null && around.state != State.JOINED) {
			around = around.outer;
		}
		if (around != null) {
			around.setFlag();
		}
	}

	/**
	 * Who set the thread's flag last, and the monitor of the thread's methods.
	 */
	private static final class Flag {

		private @Nullable RunningMethod setter;

	}

}
