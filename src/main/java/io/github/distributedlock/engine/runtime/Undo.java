package io.github.distributedlock.engine.runtime;

/**
 * Steps that are undone if they fail. Errors count, too: a pool that cannot get a thread
 * throws one, and what was marked as begun would stay so for ever.
 */
public final class Undo {

	private Undo() {
	}

	/**
	 * Runs a step, and if it throws undoes it before that is passed on.
	 */
	public static void ifFails(Runnable step, Runnable undo) {
		boolean done = false;
		try {
			step.run();
			done = true;
		}
		finally {
			if (!done) {
				undo.run();
			}
		}
	}

}
