package io.github.distributedlock.tck;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import io.github.distributedlock.tck.History.Hold;
import io.github.distributedlock.tck.HistoryChecker.Overlap;

/**
 * Tries any lock, of whatever library. Three JVMs contend for one key, and are killed and
 * paused at random. Then the holds of all JVMs are compared. Most holds take
 * milliseconds, one in a hundred takes as long as a pause.
 * <p>
 * A hold counts from the moment at which the lock was given to a thread to the last
 * moment at which {@link Held#isHeld()} still said so, or the release began. An overlap
 * is a hold that began within another hold: at that time the lock told two threads that
 * each of them is the holder. A trial needs a {@code java} of the running JVM's home, and
 * the program {@code kill} of the shell {@code sh}.
 *
 * @since 1.0.0
 */
public final class LockTrial {

	private static final int JVMS = 3;

	private static final int THREADS = 2;

	private static final String KEY = "trial";

	private static final String WAITED = "waited ";

	private static final String FAILED = "failed ";

	private static final String READY = "ready";

	/** For how long to wait for what a JVM or a signal does at once. */
	private static final int MINUTES = 5;

	private static final long SHORT_HOLD = TimeUnit.MILLISECONDS.toNanos(4);

	private static final long LONG_HOLD = TimeUnit.MILLISECONDS.toNanos(400);

	private static final int HOLDS_PER_LONG_ONE = 10;

	private static final int HOLDS_PER_LONGEST = 100;

	private static final long STEP = TimeUnit.MILLISECONDS.toNanos(1);

	private final List<String> command;

	private final Path folder;

	private final List<Process> running = new ArrayList<>();

	private final List<String> failures = new ArrayList<>();

	private int started;

	private int kills;

	private int pauses;

	private LockTrial(List<String> command, Path folder) {
		this.command = command;
		this.folder = folder;
	}

	/**
	 * Tries a lock.
	 * @param subject the lock's class, with a constructor without parameters that
	 * reflection may call
	 * @param properties system properties of the three JVMs, for the lock to read
	 * @param time for how long to try the lock, from when all JVMs have theirs
	 * @param longestPause for how long a JVM stands still at most, and a thread holds the
	 * lock at most: longer than a lease, if renewals and the ends of leases are to be
	 * tried, too
	 * @return what was found
	 * @throws IOException if a JVM cannot be started, or its history cannot be read
	 * @throws InterruptedException if interrupted; the JVMs are then killed
	 * @throws IllegalStateException if a JVM has no lock after five minutes, or ends
	 * before; the message has the output of that JVM
	 */
	public static Report run(Class<? extends Subject> subject, Map<String, String> properties, Duration time,
			Duration longestPause) throws IOException, InterruptedException {
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp",
				System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))));
		properties.forEach((name, value) -> command.add("-D" + name + "=" + value));
		command.addAll(List.of(Contender.class.getName(), subject.getName(), String.valueOf(longestPause.toNanos())));
		LockTrial trial = new LockTrial(command, Files.createTempDirectory("lock-trial"));
		try {
			for (int i = 0; i < JVMS; i++) {
				trial.running.add(trial.start());
			}
			trial.awaitReady();
			trial.disturb(new Random(), time.toNanos(), longestPause.toNanos());
			trial.end();
			return trial.report();
		}
		finally {
			trial.running.forEach(Process::destroyForcibly);
			trial.delete();
		}
	}

	private Process start() throws IOException {
		Path own = Files.createDirectory(this.folder.resolve("jvm-" + ++this.started));
		List<String> all = new ArrayList<>(this.command);
		all.add(own.toString());
		return new ProcessBuilder(all).redirectErrorStream(true).redirectOutput(own.resolve("output").toFile()).start();
	}

	private void awaitReady() throws IOException, InterruptedException {
		long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(MINUTES);
		for (int i = 0; i < JVMS; i++) {
			Path output = this.folder.resolve("jvm-" + (i + 1)).resolve("output");
			while (!Files.readAllLines(output).contains(READY)) {
				if (System.nanoTime() > deadline || this.running.get(i).waitFor(1, TimeUnit.MILLISECONDS)) {
					throw new IllegalStateException(
							"A JVM got no lock to try within " + MINUTES + " min: " + Files.readString(output));
				}
			}
		}
	}

	private void disturb(Random random, long time, long longestPause) throws IOException, InterruptedException {
		long end = System.nanoTime() + time;
		while (System.nanoTime() < end) {
			int i = random.nextInt(JVMS);
			Process jvm = this.running.get(i);
			// How long this lasts is the fault.
			if (jvm.waitFor((long) (random.nextDouble() * TimeUnit.SECONDS.toNanos(1)), TimeUnit.NANOSECONDS)) {
				this.failures.add(FAILED + "a JVM ended with exit value " + jvm.exitValue());
				this.running.set(i, start());
			}
			else if (random.nextBoolean()) {
				jvm.destroyForcibly().waitFor(MINUTES, TimeUnit.MINUTES);
				this.running.set(i, start());
				this.kills++;
			}
			else {
				signal("STOP", jvm);
				jvm.waitFor((long) (random.nextDouble() * longestPause), TimeUnit.NANOSECONDS);
				signal("CONT", jvm);
				this.pauses++;
			}
		}
	}

	private static void signal(String name, Process jvm) throws IOException, InterruptedException {
		new ProcessBuilder("sh", "-c", "kill -" + name + " " + jvm.pid()).inheritIO()
			.start()
			.waitFor(MINUTES, TimeUnit.MINUTES);
	}

	// At the end of the input, a JVM prints for how long each thread has been waiting.
	private void end() throws IOException, InterruptedException {
		for (Process jvm : this.running) {
			jvm.getOutputStream().close();
		}
		for (Process jvm : this.running) {
			jvm.waitFor(MINUTES, TimeUnit.MINUTES);
		}
	}

	private Report report() throws IOException {
		List<Hold> holds = new ArrayList<>();
		List<String> output = new ArrayList<>();
		for (Path jvm : jvms()) {
			output.addAll(Files.readAllLines(jvm.resolve("output")));
			try (Stream<Path> files = Files.list(jvm)) {
				files.filter((file) -> !file.endsWith("output")).forEach((file) -> holds.addAll(History.read(file)));
			}
		}
		long wait = output.stream()
			.filter((line) -> line.startsWith(WAITED))
			.mapToLong((line) -> Long.parseLong(line.substring(WAITED.length())))
			.max()
			.orElse(0);
		output.stream().filter((line) -> line.startsWith(FAILED)).forEach(this.failures::add);
		return new Report(List.copyOf(holds), HistoryChecker.overlaps(holds), HistoryChecker.regressions(holds),
				Duration.ofNanos(wait), this.kills, this.pauses, List.copyOf(this.failures));
	}

	private List<Path> jvms() throws IOException {
		try (Stream<Path> folders = Files.list(this.folder)) {
			return folders.sorted().toList();
		}
	}

	private void delete() throws IOException {
		for (Path jvm : jvms()) {
			try (Stream<Path> files = Files.list(jvm)) {
				for (Path file : files.toList()) {
					Files.delete(file);
				}
			}
			Files.delete(jvm);
		}
		Files.delete(this.folder);
	}

	/**
	 * A lock of any library. Each JVM makes one lock, by a constructor without
	 * parameters, and several threads use that lock.
	 */
	public interface Subject {

		/**
		 * Waits for a lock without a limit of time.
		 * @param key what to lock
		 * @return the lock, which the calling thread has now
		 * @throws Exception if the lock could not be had; counts as a failure
		 */
		Held acquire(String key) throws Exception;

	}

	/**
	 * A lock that a thread has been given.
	 */
	public interface Held {

		/**
		 * Returns whether the thread may go on: what a method asks before a step that
		 * cannot be undone. By default nobody asks.
		 * @return whether the lock is held
		 * @throws Exception if nobody knows; then the hold ends
		 */
		default boolean isHeld() throws Exception {
			return true;
		}

		/**
		 * Returns the fencing token, if there is one.
		 * @return the token
		 */
		default OptionalLong token() {
			return OptionalLong.empty();
		}

		/**
		 * Gives the lock back.
		 * @throws Exception if that failed; counts as a failure
		 */
		void release() throws Exception;

	}

	/**
	 * The result of a trial.
	 *
	 * @param holds all holds
	 * @param overlaps holds that began within another one
	 * @param regressions holds whose fencing token is not greater than an earlier one's
	 * @param longestWait the longest time for which a thread has waited for the lock, the
	 * pauses of the thread's JVM included, also if the thread did not get the lock before
	 * the end
	 * @param kills how many JVMs were killed and replaced
	 * @param pauses how many times a JVM stood still
	 * @param failures exceptions of acquisitions and releases, and JVMs that ended
	 * without being told
	 */
	public record Report(List<Hold> holds, List<Overlap> overlaps, List<Overlap> regressions, Duration longestWait,
			int kills, int pauses, List<String> failures) {

		/**
		 * Returns how many holds another one overlapped, however many did.
		 * @return their number
		 */
		public long overlapped() {
			return this.overlaps.stream().map(Overlap::first).distinct().count();
		}

		@Override
		public String toString() {
			long fenced = this.holds.stream().filter((hold) -> hold.token().isPresent()).count();
			return this.holds.size() + " holds, " + this.kills + " kills, " + this.pauses + " pauses: "
					+ this.overlaps.size() + " overlaps of " + overlapped() + " holds, " + fenced + " tokens of which "
					+ this.regressions.size() + " are not greater than an earlier one, longest wait "
					+ this.longestWait.toMillis() + " ms, " + this.failures.size() + " failures";
		}

	}

	/**
	 * One of the three JVMs. Arguments: the lock's class, the longest hold in
	 * nanoseconds, the folder of the histories.
	 */
	static final class Contender {

		private final Subject subject;

		private final long longestHold;

		/** Since when each thread waits, or 0. */
		private final AtomicLongArray waiting = new AtomicLongArray(THREADS);

		private Contender(Subject subject, long longestHold) {
			this.subject = subject;
			this.longestHold = longestHold;
		}

		public static void main(String[] arguments) throws Exception {
			var constructor = Class.forName(arguments[0]).asSubclass(Subject.class).getDeclaredConstructor();
			constructor.setAccessible(true);
			Contender contender = new Contender(constructor.newInstance(), Long.parseLong(arguments[1]));
			for (int i = 0; i < THREADS; i++) {
				int number = i;
				History history = History.write(Path.of(arguments[2], "thread-" + number));
				Thread thread = new Thread(() -> contender.contend(number, history), "contender-" + number);
				thread.setDaemon(true);
				thread.start();
			}
			System.out.println(READY);
			while (System.in.read() >= 0) {
				// Nobody says anything but the end.
			}
			for (int i = 0; i < THREADS; i++) {
				contender.waited(i);
			}
			Runtime.getRuntime().halt(0);
		}

		private void waited(int number) {
			long since = this.waiting.getAndSet(number, 0);
			if (since != 0) {
				System.out.println(WAITED + (System.nanoTime() - since));
			}
		}

		private void contend(int number, History history) {
			while (true) {
				try {
					this.waiting.set(number, System.nanoTime());
					Held held = this.subject.acquire(KEY);
					hold(held, history);
					waited(number);
					held.release();
				}
				catch (Exception ex) {
					System.out.println(FAILED + ex.toString().lines().findFirst().orElse(""));
				}
			}
		}

		private void hold(Held held, History history) throws Exception {
			long now = System.nanoTime();
			long number = history.begin(KEY, ProcessHandle.current().pid() + " " + Thread.currentThread().getName(),
					now, now, held.token().orElse(History.NO_TOKEN));
			ThreadLocalRandom random = ThreadLocalRandom.current();
			long longest = (random.nextInt(HOLDS_PER_LONGEST) == 0) ? this.longestHold
					: (random.nextInt(HOLDS_PER_LONG_ONE) == 0) ? LONG_HOLD : SHORT_HOLD;
			long end = now + (long) (random.nextDouble() * longest);
			// The time is noted before the lock is asked: the lock was held then.
			while (held.isHeld()) {
				history.renewed(number, now);
				if (now >= end) {
					return;
				}
				LockSupport.parkNanos(STEP);
				now = System.nanoTime();
			}
		}

	}

}
