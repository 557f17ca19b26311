package io.github.distributedlock.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.github.distributedlock.backend.redis.RedisLockSettings;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.RedisServers.Server;
import io.github.distributedlock.fixtures.Variant;
import redis.clients.jedis.Jedis;

import org.springframework.util.FileSystemUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * One fault, on a separate server, in the middle of a {@link Workload} of two members.
 * Then the workload must go on, and is measured at the end.
 */
final class Trial implements AutoCloseable {

	/** The lease of all locks: short, but renewed in time on a busy machine, too. */
	static final Duration LEASE = Duration.ofSeconds(3);

	static final Duration COMMAND_TIMEOUT = Duration.ofMillis(500);

	/** How locks are kept. */
	static final RedisLockSettings SETTINGS = Variant.settings().commandTimeout(COMMAND_TIMEOUT);

	/** A key that expires before this time is not left over. */
	private static final Duration LONGEST_LIFE = Duration.ofSeconds(15);

	/** The last fencing token of a key outlasts the lock on purpose. */
	private static final String KEPT = "lock-fence:";

	private static final long LOOK_MILLIS = 2;

	/** Threads of databases do not count: another test may have left such a store. */
	private static final Pattern LIBRARY_THREAD = Pattern
		.compile("distributed-lock-(?!(call|cancel|housekeeping|notifications)$).*|lettuce-.*");

	private static final Duration PATIENCE = Workload.PATIENCE;

	private final Set<Thread> threadsBefore = Thread.getAllStackTraces().keySet();

	private final Path directory;

	private final Recorder recorder;

	private final Workload workload;

	private final List<Member> members = new ArrayList<>();

	private final Deployment redis;

	private Trial(Deployment redis) {
		this.redis = redis;
		try {
			this.directory = Files.createTempDirectory("faults");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.recorder = new Recorder(this.directory.resolve("history"));
		this.workload = new Workload(this.recorder);
	}

	/**
	 * Begins the workload.
	 * @param clients the client of each member
	 * @param redis the server that the clients share
	 * @param route how the clients reach the server
	 * @return the trial, running
	 */
	static Trial begin(List<Client> clients, Deployment redis, Route route) {
		Trial trial = new Trial(redis);
		try {
			for (Client client : clients) {
				trial.members.add(Member.join(client, redis, route));
			}
			trial.workload.begin(trial.members);
			trial.workload.awaitProgress("before the fault");
			return trial;
		}
		catch (RuntimeException | Error ex) {
			trial.close();
			throw ex;
		}
	}

	/** Does something to the server. */
	void admin(Consumer<Jedis> action) {
		try (Jedis admin = server().admin()) {
			action.accept(admin);
		}
	}

	/** Has another server take the place of that which has the locks. */
	void failOver() {
		this.redis.failOver().run();
	}

	/** The server that has the locks. */
	Server server() {
		return this.redis.master().get();
	}

	/**
	 * Breaks something for a while. What a slow machine makes of that is noise.
	 * @param time the time from before the beginning until the end
	 */
	void breakFor(Duration time, Runnable begin, Runnable end) throws InterruptedException {
		long due = System.nanoTime() + time.toNanos();
		begin.run();
		TimeUnit.NANOSECONDS.sleep(due - System.nanoTime());
		end.run();
		this.recorder.late(System.nanoTime() - due);
	}

	/**
	 * Sets a trap on the way of each member to the server.
	 */
	Trap set(Trap trap) {
		this.members.forEach((member) -> member.relay().add(trap));
		return trap;
	}

	Recorder recorder() {
		return this.recorder;
	}

	/** The first member, which holds the long lock to begin with. */
	Member holder() {
		return this.members.get(0);
	}

	/** The other member. */
	Member rival() {
		return this.members.get(1);
	}

	/** Waits until a holder is told of the loss of the lock. */
	void awaitLoss() {
		await("a holder is told of the loss").until(() -> this.recorder.losses() > 0);
	}

	/**
	 * Waits until a holder is told that the key is gone. How long that may take is the
	 * row's promise.
	 */
	void awaitKeyMissed() {
		await("a holder is told that the key is gone").until(this.recorder::isToldAfter);
	}

	/** Waits until whoever had the lock of a key has closed the handle. */
	void awaitNobodyHolds(String key) {
		await("'" + key + "' is given back").until(() -> !this.recorder.isOpen(key));
	}

	Outcome run(FaultInjection fault) throws Exception {
		this.recorder.strikes();
		fault.strike(this);
		this.workload.awaitProgress("after the fault");
		this.workload.end();
		measureOrphans("*");
		this.members.forEach(Member::close);
		return this.recorder.outcome(keysLeft(), threadsLeft());
	}

	/**
	 * Waits until the lock of a key is gone that nobody holds from now on, and measures
	 * for how long the lock stays.
	 * @param key the key; {@code *} for all
	 */
	void measureOrphans(String key) throws InterruptedException {
		long begin = System.nanoTime();
		long last = begin;
		String pattern = key.equals("*") ? "lock:*" : "lock:{" + key + "}";
		try (Jedis admin = server().admin()) {
			while (!admin.keys(pattern).isEmpty()) {
				last = System.nanoTime();
				assertThat(last - begin).as("%s stays", pattern).isLessThan(PATIENCE.toNanos());
				Thread.sleep(LOOK_MILLIS);
			}
		}
		this.recorder.orphan(last - begin);
	}

	private int keysLeft() {
		try (Jedis admin = server().admin()) {
			return (int) admin.keys("lock*")
				.stream()
				.filter((key) -> !key.startsWith(KEPT))
				.mapToLong(admin::pttl)
				// One that has run out meanwhile has -2.
				.filter((left) -> left == -1 || left > LONGEST_LIFE.toMillis())
				.count();
		}
	}

	private int threadsLeft() throws InterruptedException {
		long end = System.nanoTime() + PATIENCE.toNanos();
		while (!libraryThreads().isEmpty() && System.nanoTime() - end < 0) {
			Thread.sleep(LOOK_MILLIS);
		}
		return libraryThreads().size();
	}

	private Set<Thread> libraryThreads() {
		Set<Thread> threads = new HashSet<>(Thread.getAllStackTraces().keySet());
		threads.removeAll(this.threadsBefore);
		return threads.stream()
			.filter((thread) -> LIBRARY_THREAD.matcher(thread.getName()).matches())
			.collect(Collectors.toSet());
	}

	@Override
	public void close() {
		this.workload.stop();
		this.members.forEach(Member::close);
		this.recorder.close();
		this.redis.end().run();
		FileSystemUtils.deleteRecursively(this.directory.toFile());
	}

}
