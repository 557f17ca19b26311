package io.github.distributedlock.demo;

import java.io.Console;
import java.lang.reflect.Method;

/**
 * The terminal that a program is started from, if a person has started the program.
 */
public final class Terminal {

	private Terminal() {
	}

	/**
	 * Returns whether somebody reads the output while the program runs.
	 */
	public static boolean isThere() {
		Console console = System.console();
		if (console == null) {
			return false;
		}
		try {
			// Since JDK 22 there may be a console that is no terminal, and says so.
			Method method = Console.class.getMethod("isTerminal");
			return (boolean) method.invoke(console);
		}
		catch (ReflectiveOperationException ex) {
			return true;
		}
	}

}
