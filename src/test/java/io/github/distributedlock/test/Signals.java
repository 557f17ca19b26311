package io.github.distributedlock.test;

import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Signals to a process, by the shell's own kill: not every machine has the program.
 */
final class Signals {

	private Signals() {
	}

	/**
	 * Stops all threads of a process until it is {@linkplain #resume resumed} (SIGSTOP).
	 * @param pid its id
	 */
	static void pause(long pid) {
		send("STOP", pid);
	}

	static void resume(long pid) {
		send("CONT", pid);
	}

	private static void send(String name, long pid) {
		try {
			Process kill = new ProcessBuilder("sh", "-c", "kill -" + name + " " + pid).inheritIO().start();
			if (Patience.waitFor(kill) != 0) {
				throw new AssertionError("Process " + pid + " could not be sent SIG" + name);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
