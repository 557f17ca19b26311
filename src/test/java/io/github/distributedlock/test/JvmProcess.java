package io.github.distributedlock.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * A main class in a JVM of its own, on the class path of the test: something that can be
 * killed, or stopped for a while, while it holds a lock.
 * <p>
 * What it prints, to either stream, is read as it comes, so that it never blocks on it.
 * It ends with {@link #close()}, with the JVM of the test, and, because {@link ChildJvm}
 * watches its standard input, even if that JVM is killed.
 */
public final class JvmProcess implements AutoCloseable {

	private static final Duration PATIENCE = Patience.PATIENCE;

	private static final List<String> QUICK_TO_START = List.of("-Xmx128m", "-XX:TieredStopAtLevel=1",
			"-XX:+UseSerialGC");

	private static final Set<Process> RUNNING = ConcurrentHashMap.newKeySet();

	static {
		Runtime.getRuntime()
			.addShutdownHook(new Thread(() -> RUNNING.forEach(Process::destroyForcibly), "jvm-process-reaper"));
	}

	private final Process process;

	// Sends its signals without closing the streams at once, as the process itself would.
	private final ProcessHandle handle;

	private final ProcessOutput output;

	private JvmProcess(Process process) {
		this.process = process;
		this.handle = process.toHandle();
		this.output = new ProcessOutput(process);
		RUNNING.add(process);
		process.onExit().thenAccept(RUNNING::remove);
	}

	/**
	 * Starts a main class.
	 * @param main the class
	 * @param properties its system properties
	 * @param arguments its arguments
	 * @return the running process
	 */
	public static JvmProcess start(Class<?> main, Map<String, String> properties, String... arguments) {
		return start(QUICK_TO_START, main, properties, arguments);
	}

	/**
	 * Starts a main class in a JVM that is not made to start quickly.
	 * @param options the options of the JVM
	 * @param main the class
	 * @param properties its system properties
	 * @param arguments its arguments
	 * @return the running process
	 */
	public static JvmProcess start(List<String> options, Class<?> main, Map<String, String> properties,
			String... arguments) {
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		command.addAll(options);
		command.addAll(List.of("-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8", "-Dstderr.encoding=UTF-8"));
		properties.forEach((name, value) -> command.add("-D" + name + "=" + value));
		command.add(ChildJvm.class.getName());
		command.add(main.getName());
		command.addAll(List.of(arguments));
		ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
		builder.environment().put("CLASSPATH", classPath());
		// What somebody has set for their own applications must not lead to their Redis.
		builder.environment().keySet().removeIf((name) -> name.matches("(SPRING|DISTRIBUTED_LOCK)_.*"));
		try {
			return new JvmProcess(builder.start());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Starts a main class without system properties.
	 * @param main the class
	 * @param arguments its arguments
	 * @return the running process
	 */
	public static JvmProcess start(Class<?> main, String... arguments) {
		return start(main, Map.of(), arguments);
	}

	// Surefire may start the test on a jar that has nothing but a manifest.
	private static String classPath() {
		return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
	}

	public long pid() {
		return this.process.pid();
	}

	public boolean isAlive() {
		return this.process.isAlive();
	}

	/**
	 * Sends a line, for {@link ChildJvm#awaitLine()} to return there.
	 * @param line the line
	 */
	public void send(String line) {
		try {
			this.process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
			this.process.getOutputStream().flush();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Waits until a line is printed, and skips those before it, so that the same line can
	 * be waited for again.
	 * @param line the whole line
	 * @return the line
	 */
	public String awaitLine(String line) {
		return awaitLine(line::equals, "'" + line + "'", PATIENCE);
	}

	/**
	 * Waits until a line is printed that begins with a prefix.
	 * @param prefix the prefix
	 * @return what follows the prefix
	 */
	public String awaitLineAfter(String prefix) {
		return awaitLine((line) -> line.startsWith(prefix), "'" + prefix + "…'", PATIENCE).substring(prefix.length());
	}

	/**
	 * Waits until a line is printed.
	 * @param line tells the line
	 * @param description of the line, for the failure
	 * @param timeout for how long to wait
	 * @return the line
	 * @throws AssertionError if the time is over, or the process has ended without it
	 */
	public String awaitLine(Predicate<String> line, String description, Duration timeout) {
		return this.output.await(line, timeout)
			.orElseThrow(() -> failure("printed no line " + description + " in " + timeout + " or before it ended"));
	}

	/**
	 * Everything printed so far.
	 * @return the lines
	 */
	public List<String> output() {
		return this.output.lines();
	}

	/**
	 * Waits until the process has ended and all that it printed is read.
	 * @return its exit code
	 * @throws AssertionError if it goes on
	 */
	public int awaitExit() {
		try {
			if (!this.process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
				throw failure("ran for " + PATIENCE + " without ending");
			}
			this.output.awaitEnd(PATIENCE);
			return this.process.exitValue();
		}
		catch (InterruptedException ex) {
			throw interrupted(ex);
		}
	}

	/**
	 * Ends the process on the spot (SIGKILL): no shutdown hook, no {@code finally}.
	 */
	public void kill() {
		this.handle.destroyForcibly();
		awaitExit();
	}

	/**
	 * Asks the process to end (SIGTERM).
	 */
	public void terminate() {
		this.handle.destroy();
	}

	/**
	 * Stops all of its threads until {@link #resume()} (SIGSTOP).
	 */
	public void pause() {
		Signals.pause(pid());
	}

	/**
	 * Lets it go on (SIGCONT).
	 */
	public void resume() {
		Signals.resume(pid());
	}

	@Override
	public void close() {
		kill();
	}

	@Override
	public String toString() {
		return "JVM " + pid();
	}

	private AssertionError failure(String what) {
		return new AssertionError(this + " " + what + "; its output:\n  " + String.join("\n  ", output()));
	}

	private IllegalStateException interrupted(InterruptedException ex) {
		Thread.currentThread().interrupt();
		return new IllegalStateException("Interrupted while waiting for " + this, ex);
	}

}
