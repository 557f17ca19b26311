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
		boolean interrupted = defer();
		try {
			return step.get();
		}
		finally {
			restore(interrupted);
		}
	}

	/**
	 * Clears the thread's interrupt flag.
	 * @return whether it was set, to be {@linkplain #restore(boolean) restored}
	 */
	public static boolean defer() {
		return Thread.interrupted();
	}

	public static void restore(boolean interrupted) {
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

}
