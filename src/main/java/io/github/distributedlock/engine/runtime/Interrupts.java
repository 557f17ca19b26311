package io.github.distributedlock.engine.runtime;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Steps that are done in spite of an interrupt. A client may refuse to work for a thread
 * that is marked as interrupted.
 */
public final class Interrupts {

	private Interrupts() {
	}

	/**
	 * Runs a step with the thread's interrupt flag cleared, and sets it again.
	 */
	public static <T extends @Nullable Object> T deferredDuring(Supplier<T> step) {
		boolean interrupted = Thread.interrupted();
		try {
			return step.get();
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

}
