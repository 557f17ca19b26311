package io.github.distributedlock.multijvm;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.backend.jdbc.Postgres;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.JvmProcess;
import io.github.distributedlock.fixtures.RandomFaults;
import io.github.distributedlock.fixtures.RedisSentinels;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.RedisServers.Server;
import io.github.distributedlock.fixtures.Relay;
import io.github.distributedlock.fixtures.TcpRelay;
import io.github.distributedlock.fixtures.Variant;
import io.github.distributedlock.multijvm.Survivor.Kind;
import io.github.distributedlock.tck.History;
import io.github.distributedlock.tck.History.Hold;
import io.github.distributedlock.tck.HistoryChecker;
import io.github.distributedlock.tck.HistoryChecker.Overlap;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.args.ClientPauseMode;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * JVMs that want the same few locks in every {@link Kind} of way while some of them,
 * picked at random, are stopped or killed, and their Redis is disturbed: for
 * {@code -Dlock.survival.seconds} in each case, 30 by default, with the random numbers of
 * {@code -Dlock.survival.seed}.
 */
@Tag("thorough")
@Timeout(value = 1, unit = TimeUnit.HOURS)
class RandomFaultsTests {

	private static final Duration DURATION = Duration.ofSeconds(Integer.getInteger("lock.survival.seconds", 30));

	private static final int JVMS = 4;

	/**
	 * Some of them outlive a lease, most do not.
	 */
	private static final Duration LONGEST_FAULT = Survivor.LEASE.multipliedBy(3).dividedBy(2);

	/**
	 * More bytes than the lines that end the holds of one request, or renew them. One
	 * that begins is longer than each of them.
	 */
	private static final int ENDS = 3 * ("renewed ".length() + 20 + " ".length() + 20 + "\n".length());

	/** A token that the server's clock in microseconds reaches in the year 2096. */
	private static final String AHEAD_OF_THE_TIME = "4000000000000000";

	private static final String GRANTED = "\"granted: ";

	/**
	 * After a switch the holder of a lock at the old master may renew the lock there for
	 * 2 s and a command, and then be sure of the lock for a lease: replication is
	 * asynchronous, and nothing better is promised.
	 */
	private static final Duration EXCUSED = Duration.ofSeconds(2).plus(Survivor.COMMAND_TIMEOUT).plus(Survivor.LEASE);

	/** By how much we may hear of a switch later than others do. */
	private static final Duration HEARD = Duration.ofSeconds(1);

	@TempDir
	private Path directory;

	private final long seed = Long.getLong("lock.survival.seed", System.nanoTime());

	private final Random random = new Random(this.seed);

	/** One sequence of fates for all rounds. */
	private final RandomFaults faults = new RandomFaults(new Random(this.seed), Survivor.COMMAND_TIMEOUT);

	/** All that there were. */
	private final List<Jvm> jvms = new ArrayList<>();

	/** When a Sentinel named another master, or a JVM went on without that news. */
	private final Queue<Long> switches = new ConcurrentLinkedQueue<>();

	private record Jvm(int number, JvmProcess process, Path directory) {

		Path history(Kind kind) {
			return this.directory.resolve(kind.name());
		}

		long length(Kind kind) {
			try {
				return Files.exists(history(kind)) ? Files.size(history(kind)) : 0;
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

	@AfterEach
	void end() {
		this.jvms.forEach((jvm) -> jvm.process().close());
	}

	@Test
	void noTwoHoldsOverlapBehindAProxy() throws InterruptedException {
		try (Server server = RedisServers.start(Variant.SERVER);
				Jedis admin = server.admin();
				Relay proxy = new Relay(server.port())) {
			int rounds = survive(String.valueOf(proxy.port()), (millis) -> {
				switch (this.random.nextInt(5)) {
					case 0 -> admin.clientPause(millis,
							this.random.nextBoolean() ? ClientPauseMode.ALL : ClientPauseMode.WRITE);
					case 1, 2 -> proxy.add(this.faults);
					case 3 -> proxy.silence();
					default -> {
					}
				}
				return () -> {
					proxy.removeRules();
					proxy.cut();
				};
			});
			try (ClientCommands commands = new ClientCommands(server)) {
				assertThat(commands.linesDuring(this::awaitHolds)).as("what is put to the test")
					.anyMatch((line) -> line.contains(GRANTED));
			}
			check(rounds);
		}
	}

	/**
	 * The server is killed, too, and loses the statements that were not on the disk.
	 */
	@Test
	void noTwoHoldsOverlapOnPostgres() throws InterruptedException {
		try (Postgres server = new Postgres(); TcpRelay proxy = new TcpRelay(server.port())) {
			server.createTable();
			String url = server.url().replace(":" + server.port() + "/", ":" + proxy.port() + "/");
			int rounds = survive(url, (millis) -> switch (this.random.nextInt(6)) {
				case 0 -> {
					server.killAndRestart();
					yield () -> {
					};
				}
				case 1 -> {
					server.endSessions();
					yield server::endSessions;
				}
				case 2 -> server.lockTable();
				case 3 -> {
					proxy.swallow();
					yield () -> {
					};
				}
				default -> () -> {
				};
			});
			check(rounds);
		}
	}

	@Test
	void theyOverlapOnlyForAMomentAfterAFailover() throws InterruptedException {
		try (RedisSentinels sentinels = RedisSentinels.start(Variant.SERVER, 1)) {
			sentinels.sentinels().forEach(this::listen);
			String ports = sentinels.sentinels()
				.stream()
				.map(Server::port)
				.map(String::valueOf)
				.collect(Collectors.joining(","));
			int rounds = survive(ports, (millis) -> {
				failOver(sentinels.sentinels().get(0));
				return () -> await("a switch, which is put to the test").until(() -> {
					boolean switched = !this.switches.isEmpty();
					if (!switched) {
						failOver(sentinels.sentinels().get(0));
					}
					return switched;
				});
			});
			check(rounds);
		}
	}

	/**
	 * Half of the JVMs know nothing of the other half. Tokens follow the server's clock,
	 * so the other half's are put ahead of the time.
	 */
	@Test
	void aLockThatDoesNotExcludeIsFound() {
		try (Server server = RedisServers.start(Variant.SERVER); Jedis admin = server.admin()) {
			Survivor.KEYS.forEach((key) -> admin.set("other-fence:{" + key + "}", AHEAD_OF_THE_TIME));
			for (int number = 0; number < JVMS; number++) {
				start(number, String.valueOf(server.port()), (number < JVMS / 2) ? "one" : "other");
			}
			await("two that hold a key").until(() -> !HistoryChecker.overlaps(writers()).isEmpty());
			await("a reader beside a writer")
				.until(() -> !HistoryChecker.overlaps(holds(Kind.SHARED), writers()).isEmpty());
			await("tokens that do not grow").until(() -> !HistoryChecker.regressions(writers()).isEmpty());
		}
	}

	private void listen(Server sentinel) {
		Thread thread = new Thread(() -> {
			try (Jedis admin = sentinel.admin()) {
				admin.subscribe(new JedisPubSub() {

					@Override
					public void onMessage(String channel, String message) {
						RandomFaultsTests.this.switches.add(System.nanoTime());
					}

				}, "+switch-master");
			}
			catch (JedisConnectionException ex) {
				// Closed.
			}
		}, "switches");
		thread.setDaemon(true);
		thread.start();
	}

	private static void failOver(Server sentinel) {
		try (Jedis admin = sentinel.admin()) {
			admin.sentinelFailover(RedisSentinels.MASTER);
		}
		catch (JedisDataException ex) {
			// The last one is not over yet.
		}
	}

	/**
	 * Lets JVMs survive for some time.
	 * @param servers the addresses at which the JVMs find Redis
	 * @param disturbance disturbs Redis for some milliseconds, and returns what ends the
	 * disturbance
	 * @return how often something went wrong
	 */
	private int survive(String servers, IntFunction<Runnable> disturbance) throws InterruptedException {
		for (int number = 0; number < JVMS; number++) {
			start(number, servers, "lock");
		}
		awaitHolds();
		long end = System.nanoTime() + DURATION.toNanos();
		int rounds = 0;
		while (rounds == 0 || System.nanoTime() - end < 0) {
			goWrong(servers, disturbance);
			awaitHolds();
			rounds++;
		}
		awaitEachKind();
		return rounds;
	}

	private void check(int rounds) {
		this.jvms.forEach((jvm) -> jvm.process().kill());
		Collection<Hold> writers = writers();
		Collection<Hold> readers = holds(Kind.SHARED);
		List<Overlap> all = Stream
			.concat(HistoryChecker.overlaps(writers).stream(), HistoryChecker.overlaps(readers, writers).stream())
			.toList();
		List<Overlap> overlaps = all.stream().filter((overlap) -> !isExcused(overlap.second())).toList();
		List<Overlap> regressions = HistoryChecker.regressions(holds(Kind.FENCED))
			.stream()
			.filter((overlap) -> !isExcused(overlap.first()) && !isExcused(overlap.second()))
			.toList();
		List<String> lost = this.jvms.stream()
			.flatMap((jvm) -> jvm.process().output().stream())
			.filter((line) -> line.startsWith(Survivor.LOST_BEFORE))
			// A renewal may tell just then that the new master does not have the lock.
			.filter((line) -> !isExcused(
					Long.parseLong(line.substring(Survivor.LOST_BEFORE.length(), line.indexOf(':')))))
			.toList();
		System.out
			.printf("Random faults (seed %d): %d rounds, %d JVMs, holds %s, %d overlaps right after one of %d switches;"
					+ " not excused: %d overlaps, %d tokens that did not grow, %d lost before they were handed out%n",
					this.seed, rounds, this.jvms.size(),
					Arrays.stream(Kind.values()).map((kind) -> kind + "=" + holds(kind).size()).toList(),
					all.size() - overlaps.size(), this.switches.size(), overlaps.size(), regressions.size(),
					lost.size());
		assertThat(overlaps).as("held twice").isEmpty();
		assertThat(regressions).as("tokens that did not grow").isEmpty();
		assertThat(lost).isEmpty();
	}

	private boolean isExcused(Hold hold) {
		return isExcused(hold.from());
	}

	private boolean isExcused(long nanos) {
		return this.switches.stream()
			.mapToLong((time) -> nanos - time)
			.anyMatch((since) -> since > -HEARD.toNanos() && since < EXCUSED.toNanos());
	}

	/**
	 * Several things at once, for some time.
	 */
	private void goWrong(String servers, IntFunction<Runnable> disturbance) throws InterruptedException {
		List<Jvm> stopped = new ArrayList<>();
		List<Jvm> killed = new ArrayList<>();
		for (int number = 0; number < JVMS; number++) {
			switch (this.random.nextInt(6)) {
				case 0, 1 -> stopped.add(jvm(number));
				case 2 -> killed.add(jvm(number));
				default -> {
				}
			}
		}
		int millis = this.random.nextInt((int) LONGEST_FAULT.toMillis());
		stopped.forEach((jvm) -> jvm.process().pause());
		killed.forEach((jvm) -> jvm.process().kill());
		int switched = this.switches.size();
		Runnable over = disturbance.apply(millis);
		// How long this lasts is the fault.
		Thread.sleep(millis);
		over.run();
		if (!stopped.isEmpty() && this.switches.size() > switched) {
			this.switches.add(System.nanoTime());
		}
		stopped.forEach((jvm) -> jvm.process().resume());
		killed.forEach((jvm) -> start(jvm.number(), servers, "lock"));
	}

	private void start(int number, String servers, String prefix) {
		Path histories = this.directory.resolve("jvm-" + this.jvms.size());
		this.jvms.add(new Jvm(number, JvmProcess.start(Survivor.class,
				Client.values()[number % Client.values().length].name(), servers, prefix, histories.toString()),
				histories));
	}

	/** The last one of that number. */
	private Jvm jvm(int number) {
		return this.jvms.stream().filter((jvm) -> jvm.number() == number).reduce((one, next) -> next).orElseThrow();
	}

	/**
	 * Waits until each JVM gets locks again, of each kind but those that are held for
	 * long.
	 */
	private void awaitHolds() {
		List<Runnable> waits = new ArrayList<>();
		for (int number = 0; number < JVMS; number++) {
			Jvm jvm = jvm(number);
			for (Kind kind : EnumSet.complementOf(EnumSet.of(Kind.LONG))) {
				long length = jvm.length(kind);
				waits.add(() -> await(kind + " for JVM " + jvm.number()).until(() -> jvm.length(kind) > length + ENDS));
			}
		}
		waits.forEach(Runnable::run);
	}

	private void awaitEachKind() {
		for (int number = 0; number < JVMS; number++) {
			for (Kind kind : Kind.values()) {
				int jvm = number;
				await(kind + " for JVM " + number)
					.until(() -> this.jvms.stream().anyMatch((one) -> one.number() == jvm && one.length(kind) > 0));
			}
		}
	}

	private static ConditionFactory await(String what) {
		return Awaitility.await(what).atMost(Duration.ofMinutes(10)).pollInterval(Duration.ofMillis(200));
	}

	private List<Hold> writers() {
		return Arrays.stream(Kind.values())
			.filter((kind) -> kind != Kind.SHARED)
			.flatMap((kind) -> holds(kind).stream())
			.toList();
	}

	/**
	 * A JVM may be stopped between an acquisition and the note of the hold, and make the
	 * note after the lease: such a hold does not count.
	 */
	private List<Hold> holds(Kind kind) {
		return this.jvms.stream()
			.map((jvm) -> jvm.history(kind))
			.filter(Files::exists)
			.map(History::read)
			.flatMap(List::stream)
			.filter((hold) -> hold.from() < hold.until())
			.toList();
	}

}
