package io.github.distributedlock.test;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The other end of a {@link JvmProcess}: runs the main class that it was started for, and
 * halts when the standard input ends, because then the JVM of the test is gone.
 */
public final class ChildJvm {

	private static final int ORPHANED = 100;

	private static final int FAILED = 1;

	private static final BlockingQueue<String> LINES = new LinkedBlockingQueue<>();

	private ChildJvm() {
	}

	/**
	 * Waits for the next line that the test {@linkplain JvmProcess#send sends}.
	 * @return the line
	 * @throws InterruptedException if interrupted
	 */
	public static String awaitLine() throws InterruptedException {
		return LINES.take();
	}

	public static void main(String[] arguments) throws Exception {
		Thread watch = new Thread(ChildJvm::watch, "parent-watch");
		watch.setDaemon(true);
		watch.start();
		Method main = Class.forName(arguments[0]).getDeclaredMethod("main", String[].class);
		main.setAccessible(true);
		try {
			main.invoke(null, (Object) Arrays.copyOfRange(arguments, 1, arguments.length));
		}
		catch (InvocationTargetException ex) {
			ex.getCause().printStackTrace();
			System.exit(FAILED);
		}
	}

	private static void watch() {
		try (BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
			for (String line = input.readLine(); line != null; line = input.readLine()) {
				LINES.add(line);
			}
		}
		catch (IOException ex) {
			ex.printStackTrace();
		}
		Runtime.getRuntime().halt(ORPHANED);
	}

}
