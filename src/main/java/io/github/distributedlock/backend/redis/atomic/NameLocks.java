package io.github.distributedlock.backend.redis.atomic;

import java.util.HashSet;
import java.util.Set;

/**
 * Lets the threads of this JVM deal with a name one after another. Not re-entrant. Safe
 * for any thread.
 * <p>
 * Invariant: a name is entered while one thread is between {@link #enter} and
 * {@link #leave}.
 */
final class NameLocks {

	private final Set<String> entered = new HashSet<>();

	/**
	 * Waits for the thread that deals with the name, whatever interrupts that: it takes a
	 * few command timeouts at most.
	 */
	synchronized void enter(String name) {
		boolean interrupted = false;
		while (!this.entered.add(name)) {
			try {
				wait();
			}
			catch (InterruptedException ex) {
				interrupted = true;
			}
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

	synchronized void leave(String name) {
		this.entered.remove(name);
		notifyAll();
	}

}
