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
 * after it. The end clears the thread's flag if and only if this set it. An inner method
 * may thereby clear a flag that an outer one has joined, and tells it.
 */
final class RunningMethod implements AutoCloseable {

	private enum State {

		RUNNING, INTERRUPTED, JOINED, ENDED

	}

	private static final ThreadLocal<@Nullable RunningMethod> INNERMOST = new ThreadLocal<>();

	private final Thread thread = Thread.currentThread();

	private final @Nullable RunningMethod outer = INNERMOST.get();

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
	synchronized void interrupt() {
		if (this.state != State.RUNNING) {
			return;
		}
		if (this.thread.isInterrupted()) {
			this.state = State.JOINED;
		}
		else {
			this.state = State.INTERRUPTED;
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
		if (end() && this.outer != null) {
			this.outer.flagCleared();
		}
	}

	private synchronized boolean end() {
		boolean ours = this.state == State.INTERRUPTED;
		this.state = State.ENDED;
		return ours && Thread.interrupted();
	}

	private synchronized void flagCleared() {
		if (this.state == State.JOINED) {
			this.state = State.RUNNING;
			interrupt();
		}
	}

}
