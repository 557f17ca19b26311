package io.github.distributedlock.aop;

import io.github.distributedlock.LockHandle;
import org.jspecify.annotations.Nullable;

/**
 * A call on this thread whose transactions are to commit only while its lock is held.
 * Touched by that thread alone.
 */
final class GuardedCall implements AutoCloseable {

	private static final ThreadLocal<@Nullable GuardedCall> INNERMOST = new ThreadLocal<>();

	private final LockHandle handle;

	private final @Nullable GuardedCall outer = INNERMOST.get();

	private GuardedCall(LockHandle handle) {
		this.handle = handle;
	}

	/**
	 * A call begins; to be closed when it has ended.
	 */
	static GuardedCall begin(LockHandle handle) {
		GuardedCall call = new GuardedCall(handle);
		INNERMOST.set(call);
		return call;
	}

	/**
	 * Throws if any of the thread's guarded calls has lost its lock.
	 */
	static void throwIfAnyIsLost() {
		for (GuardedCall call = INNERMOST.get(); call != null; call = call.outer) {
			LossCheck.throwIfLost(call.handle);
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
	}

}
