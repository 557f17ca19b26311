package io.github.distributedlock.backend.redis.internal;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.distributedlock.backend.redis.internal.Command.Verb;
import io.github.distributedlock.backend.redis.internal.SignalConnector.SignalConnection;
import io.github.distributedlock.internal.DaemonThreads;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

/**
 * The master that Sentinels name. The clients' own support for Sentinels leaves a master
 * too late if that master is replaced while still answering: Lettuce leaves the master
 * when Sentinel demotes the master, 10 s later.
 * <p>
 * States: the master is not known, until first asked for; known, and watched by a thread
 * that asks all Sentinels twice a second; closed. While no Sentinel answers, the last
 * known master stays.
 * <p>
 * A Sentinel may be cut off from the others and name a master that they have replaced.
 * Each replacement has a greater epoch, so the answer with the greatest epoch counts. An
 * answer with a smaller epoch than before counts only if more than half of the Sentinels
 * agree: the Sentinels were set up anew.
 */
final class SentinelMaster {

	private static final Logger logger = LoggerFactory.getLogger(SentinelMaster.class);

	private static final Duration PAUSE = Duration.ofMillis(500);

	/**
	 * How long a Sentinel that gave no answer is not asked, if other Sentinels answer.
	 */
	private static final long BACKOFF_NANOS = TimeUnit.SECONDS.toNanos(5);

	private static final ThreadFactory THREADS = DaemonThreads.named("distributed-lock-sentinel");

	private final ThreadFactory threads;

	private final String name;

	private final List<Sentinel> sentinels;

	private final Duration timeout;

	private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

	private volatile @Nullable Named master;

	private volatile boolean closed;

	private @Nullable Thread watcher;

	/**
	 * The last master that was named and not believed. Only the watching thread uses this
	 * field.
	 */
	private @Nullable Named doubtful;

	/**
	 * Creates an object that does not know the master yet. Does no I/O.
	 * @param servers the Sentinels
	 * @param connectors returns an object that opens connections to a Sentinel, each with
	 * the credentials that the Sentinels have by then
	 * @param timeout how long each Sentinel may take to answer
	 */
	SentinelMaster(RedisSentinelConfiguration servers,
			Function<RedisStandaloneConfiguration, SignalConnector> connectors, Duration timeout) {
		this(servers, connectors, timeout, THREADS);
	}

	SentinelMaster(RedisSentinelConfiguration servers,
			Function<RedisStandaloneConfiguration, SignalConnector> connectors, Duration timeout,
			ThreadFactory threads) {
		this.threads = threads;
		this.name = String.valueOf(Objects.requireNonNull(servers.getMaster(), "no name of a master").getName());
		this.sentinels = servers.getSentinels().stream().map((node) -> {
			RedisStandaloneConfiguration server = standalone(node);
			return new Sentinel(server.getHostName() + ":" + server.getPort(), connectors.apply(server), timeout);
		}).toList();
		this.timeout = timeout;
	}

	static RedisStandaloneConfiguration standalone(RedisNode node) {
		return new RedisStandaloneConfiguration(String.valueOf(node.getHost()),
				(node.getPort() != null) ? node.getPort() : RedisNode.DEFAULT_SENTINEL_PORT);
	}

	/**
	 * Finds the master. Blocks until the master is known.
	 * @throws org.springframework.dao.DataAccessException if no Sentinel names the master
	 */
	RedisNode get() {
		Named known = this.master;
		return (known != null) ? known.node() : first();
	}

	// The master counts as known only once the watcher runs: otherwise nothing would
	// notice another master.
	private synchronized RedisNode first() {
		Named known = this.master;
		if (known == null) {
			Lane.requireOpen(this.closed);
			known = greatest(query());
			this.watcher = started();
			this.master = known;
		}
		return known.node();
	}

	private Thread started() {
		try {
			Thread thread = this.threads.newThread(this::watch);
			thread.start();
			return thread;
		}
		catch (OutOfMemoryError noThread) {
			throw new RedisConnectionFailureException("no thread can be had to watch what the Sentinels name",
					noThread);
		}
	}

	/**
	 * Returns whether a node is still the master. Does no I/O.
	 */
	boolean is(RedisNode node) {
		Named known = this.master;
		return known != null && known.node() == node;
	}

	/**
	 * Returns an object that stays equal as long as the master, which serves all slots,
	 * is the same.
	 */
	Object master(int slot) {
		Named known = this.master;
		return (known != null) ? known.node() : this;
	}

	/**
	 * Adds a listener that is called when another master has taken the place of a master
	 * that may still answer, once no step gets a connection to the former master any
	 * more. The listener must not block.
	 */
	void onSwitch(Runnable listener) {
		this.listeners.add(listener);
	}

	private void watch() {
		try {
			while (!this.closed) {
				LockSupport.parkNanos(this, PAUSE.toNanos());
				if (!this.closed) {
					look();
				}
			}
		}
		finally {
			this.sentinels.forEach(Sentinel::end);
		}
	}

	private void look() {
		try {
			compare(query());
		}
		catch (RuntimeException ex) {
			logger.debug("The Sentinels do not name the master", ex);
		}
		catch (Error ex) {
			logger.warn("Could not ask the Sentinels for the master, trying again", ex);
		}
	}

	private void compare(List<Named> answers) {
		Named next = greatest(answers);
		Named known = this.master;
		if (known == null) {
			return;
		}
		long votes = answers.stream().filter((answer) -> answer.node().equals(next.node())).count();
		if (next.node().equals(known.node())) {
			this.master = new Named(known.node(), Math.max(next.epoch(), known.epoch()));
		}
		else if (next.epoch() > known.epoch() || 2 * votes > this.sentinels.size()) {
			logger.info("Sentinels name {} as the master of locks instead of {}", next.node(), known.node());
			this.master = next;
			this.listeners.forEach(SentinelMaster::run);
		}
		else if (!next.equals(this.doubtful)) {
			this.doubtful = next;
			logger.warn(
					"{} of {} Sentinels name {} as the master of locks, which is not enough to leave {}: they are"
							+ " cut off from the others, or their user may not call SENTINEL MASTER",
					votes, this.sentinels.size(), next.node(), known.node());
		}
	}

	private static void run(Runnable listener) {
		try {
			listener.run();
		}
		catch (RuntimeException | Error ex) {
			logger.error("A listener for another master failed", ex);
		}
	}

	// Among answers with the same epoch, the answer of most Sentinels counts. The text
	// makes the order total.
	private static Named greatest(List<Named> answers) {
		return answers.stream()
			.max(Comparator.comparingLong(Named::epoch)
				.thenComparingLong((one) -> answers.stream().filter(one::equals).count())
				.thenComparing(Named::toString))
			.orElseThrow();
	}

	private List<Named> query() {
		List<RuntimeException> failures = new ArrayList<>();
		Map<Boolean, List<Sentinel>> byBackoff = this.sentinels.stream()
			.collect(Collectors.partitioningBy(Sentinel::backsOff));
		List<Named> answers = answers(byBackoff.getOrDefault(false, List.of()), failures);
		if (answers.isEmpty()) {
			answers = answers(byBackoff.getOrDefault(true, List.of()), failures);
		}
		if (answers.isEmpty()) {
			RuntimeException why = failures.stream()
				.filter((failure) -> RedisRefusal.of(failure) != null)
				.findFirst()
				.orElse(failures.isEmpty() ? null : failures.get(0));
			throw new RedisConnectionFailureException(
					"None of the Sentinels " + this.sentinels + " names the master of '" + this.name + "': "
							+ ((why != null) ? RedisFailures.deepestMessage(why) : "none is configured"),
					why);
		}
		return answers;
	}

	private List<Named> answers(List<Sentinel> queried, List<RuntimeException> failures) {
		List<Named> answers = new ArrayList<>();
		for (Sentinel sentinel : queried) {
			Lane.requireOpen(this.closed);
			try {
				answers.add(sentinel.query(this.name));
			}
			catch (RuntimeException ex) {
				logger.debug("Sentinel {} does not name the master", sentinel, ex);
				failures.add(ex);
			}
		}
		return answers;
	}

	void end() {
		this.closed = true;
		Thread watcher = this.watcher;
		if (watcher != null) {
			DaemonThreads.end(watcher, this.timeout);
		}
	}

	/**
	 * The answer of a Sentinel.
	 *
	 * @param node the master
	 * @param epoch the number of the last replacement of the master; 0 if the Sentinel
	 * does not tell
	 */
	private record Named(RedisNode node, long epoch) {
	}

	/**
	 * A Sentinel. One thread at a time asks.
	 */
	private static final class Sentinel {

		private static final byte[] MASTER = "MASTER".getBytes(StandardCharsets.UTF_8);

		private static final byte[] ADDRESS = "GET-MASTER-ADDR-BY-NAME".getBytes(StandardCharsets.UTF_8);

		private final String address;

		private final SignalConnector connector;

		private final Opening<SignalConnection> opening;

		private final AtomicReference<@Nullable SignalConnection> connection = new AtomicReference<>();

		private volatile boolean ended;

		private long failedAt = System.nanoTime() - BACKOFF_NANOS;

		private Sentinel(String address, SignalConnector connector, Duration timeout) {
			this.address = address;
			this.connector = connector;
			this.opening = Opening.repeated(this::open, timeout);
		}

		private SignalConnection open() {
			SignalConnection opened = this.connector.open();
			if (!this.connection.compareAndSet(null, opened)) {
				opened.close(); // Another connection was opened at the same time.
			}
			if (this.ended) {
				disconnect();
			}
			return opened;
		}

		private SignalConnection connection() {
			SignalConnection connection = this.connection.get();
			while (connection == null) {
				this.opening.await();
				connection = this.connection.get();
			}
			return connection;
		}

		private boolean backsOff() {
			return System.nanoTime() - this.failedAt < BACKOFF_NANOS;
		}

		private Named query(String name) {
			try {
				SignalConnection connection = connection();
				// The epoch is read before the address: if a replacement comes in
				// between, the next answer tells.
				long epoch = epoch(connection.link(), name);
				if (connection.link().call(Command.of(Verb.SENTINEL, ADDRESS, name)) instanceof List<?> node
						&& node.size() == 2) {
					return new Named(new RedisNode(text(node.get(0)), Integer.parseInt(text(node.get(1)))), epoch);
				}
				throw new RedisConnectionFailureException(
						"Sentinel " + this + " knows no master of the name '" + name + "'");
			}
			catch (RuntimeException ex) {
				this.failedAt = System.nanoTime();
				disconnect();
				throw ex;
			}
		}

		private static long epoch(Link link, String name) {
			try {
				List<?> fields = (link.call(Command.of(Verb.SENTINEL, MASTER, name)) instanceof List<?> reply) ? reply
						: List.of();
				for (int i = 0; i + 1 < fields.size(); i += 2) {
					if (text(fields.get(i)).equals("config-epoch")) {
						return Long.parseLong(text(fields.get(i + 1)));
					}
				}
			}
			catch (RuntimeException ex) {
				// The user may only ask for addresses. Without epochs, the answer of most
				// Sentinels counts.
				if (RedisRefusal.of(ex) == null && !RedisRefusal.isError(ex)) {
					throw ex;
				}
			}
			return 0;
		}

		private static String text(@Nullable Object bytes) {
			return (bytes != null) ? new String((byte[]) bytes, StandardCharsets.UTF_8) : "";
		}

		private void end() {
			this.ended = true;
			disconnect();
		}

		private void disconnect() {
			SignalConnection connection = this.connection.getAndSet(null);
			if (connection != null) {
				connection.close();
			}
		}

		@Override
		public String toString() {
			return this.address;
		}

	}

}
