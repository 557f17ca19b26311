package io.github.distributedlock.multijvm;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.JvmProcess;
import io.github.distributedlock.fixtures.TestRedis;
import io.github.distributedlock.tck.History;
import io.github.distributedlock.tck.History.Hold;
import io.github.distributedlock.tck.HistoryChecker;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.args.ClientPauseMode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * JVMs of one thread each that hand one lock to each other while some of them, picked at
 * random, are stopped or killed, and the server stands still: for
 * {@code -Dlock.survival.seconds}, 60 by default, with the random numbers of
 * {@code -Dlock.survival.seed}.
 */
@Tag("thorough")
class RandomFaultsTests {

	private static final Duration DURATION = Duration.ofSeconds(Integer.getInteger("lock.survival.seconds", 60));

	private static final int JVMS = 4;

	private static final Duration LEASE = Duration.ofSeconds(2);

	/**
	 * Some of them outlive a lease, most do not.
	 */
	private static final Duration LONGEST_FAULT = LEASE.multipliedBy(3).dividedBy(2);

	/**
	 * The longest line that ends a hold, in bytes. One that begins is longer than that.
	 */
	private static final int END = "end ".length() + 20 + " ".length() + 20 + "\n".length();

	private static final String LOCKED = "lua] \"SET\" \"lock:{survived}\"";

	private static final String GRANTED = "\"granted: ";

	@RegisterExtension
	final TestRedis redis = new TestRedis();

	@TempDir
	private Path directory;

	private final List<JvmProcess> processes = new ArrayList<>();

	/**
	 * The history of each process, then those of the processes that were killed.
	 */
	private final List<Path> histories = new ArrayList<>();

	@AfterEach
	void end() {
		this.processes.forEach(JvmProcess::close);
	}

	@Test
	@Timeout(value = 1, unit = TimeUnit.HOURS)
	void noTwoHoldsOverlapAndEverybodyGoesOn() throws InterruptedException {
		long seed = Long.getLong("lock.survival.seed", System.nanoTime());
		Random random = new Random(seed);
		for (int number = 0; number < JVMS; number++) {
			this.processes.add(start(number));
		}
		awaitHolds();
		long end = System.nanoTime() + DURATION.toNanos();
		int faults = 0;
		while (faults == 0 || System.nanoTime() - end < 0) {
			faults += goWrong(random);
			awaitHolds();
		}
		List<String> last = whatTheServerRuns(this::awaitHolds);
		long locks = last.stream().filter((line) -> line.contains(LOCKED)).count();
		long grants = last.stream().filter((line) -> line.contains(GRANTED)).count();
		this.processes.forEach(JvmProcess::kill);
		List<Hold> holds = holds();
		System.out.printf("Random faults (seed %d): %d faults, %d holds; of the last %d locks, %d were granted%n", seed,
				faults, holds.size(), locks, grants);
		assertThat(grants).as("what is put to the test").isPositive();
		HistoryChecker.assertExclusive(holds);
	}

	private List<String> whatTheServerRuns(Runnable action) {
		try (ClientCommands commands = new ClientCommands(this.redis.server())) {
			return commands.linesDuring(action);
		}
	}

	/**
	 * Several things at once, for some time.
	 */
	private int goWrong(Random random) throws InterruptedException {
		List<Integer> stopped = new ArrayList<>();
		List<Integer> killed = new ArrayList<>();
		boolean pauses = random.nextInt(3) == 0;
		for (int number = 0; number < JVMS; number++) {
			switch (random.nextInt(6)) {
				case 0, 1 -> stopped.add(number);
				case 2 -> killed.add(number);
				default -> {
				}
			}
		}
		long millis = random.nextLong(LONGEST_FAULT.toMillis());
		stopped.forEach((number) -> this.processes.get(number).pause());
		killed.forEach((number) -> this.processes.get(number).kill());
		if (pauses) {
			this.redis.admin().clientPause(millis, random.nextBoolean() ? ClientPauseMode.ALL : ClientPauseMode.WRITE);
		}
		// How long this lasts is the fault.
		Thread.sleep(millis);
		stopped.forEach((number) -> this.processes.get(number).resume());
		killed.forEach((number) -> this.processes.set(number, start(number)));
		return stopped.size() + killed.size() + (pauses ? 1 : 0);
	}

	private JvmProcess start(int number) {
		Path history = this.directory.resolve("history-" + this.histories.size());
		if (number < this.histories.size()) {
			this.histories.add(this.histories.get(number));
			this.histories.set(number, history);
		}
		else {
			this.histories.add(history);
		}
		return JvmProcess.start(Survivor.class, Client.values()[number % Client.values().length].name(),
				String.valueOf(this.redis.port()), String.valueOf(LEASE.toMillis()), history.toString());
	}

	/**
	 * Waits until each JVM gets the lock again.
	 */
	private void awaitHolds() {
		List<Long> before = this.histories.stream().limit(JVMS).map(RandomFaultsTests::length).toList();
		for (int number = 0; number < JVMS; number++) {
			Path history = this.histories.get(number);
			long length = before.get(number);
			await("the lock for JVM " + number).until(() -> length(history) > length + END);
		}
	}

	/**
	 * A JVM that was stopped before it could note its hold may do so after its lease:
	 * that is none.
	 */
	private List<Hold> holds() {
		return this.histories.stream()
			.filter(Files::exists)
			.map(History::read)
			.flatMap(List::stream)
			.filter((hold) -> hold.from() < hold.until())
			.toList();
	}

	private static long length(Path history) {
		try {
			return Files.exists(history) ? Files.size(history) : 0;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
