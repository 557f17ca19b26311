package io.github.distributedlock.demo;

import java.io.Console;
import java.lang.reflect.Method;

/**
 * What a program is started from, if a person has started it.
 */
public final class Terminal {

	private Terminal() {
	}

	/**
	 * Whether somebody sees what is printed while it is printed.
	 */
	public static boolean isThere() {
		Console console = System.console();
		if (console == null) {
			return false;
		}
		try {
			// Since JDK 22 there may be a console that is no terminal; it can be asked.
			Method method = Console.class.getMethod("isTerminal");
			return (boolean) method.invoke(console);
		}
		catch (ReflectiveOperationException ex) {
			return true;
		}
	}

}
