package io.github.distributedlock.benchmark;

/**
 * Lets time pass.
 */
final class Pauses {

	private Pauses() {
	}

	static void pause(long millis) {
		try {
			Thread.sleep(millis);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
