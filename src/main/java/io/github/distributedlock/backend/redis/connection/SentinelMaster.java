package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.backend.redis.wire.Command.Verb;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.Link;
import io.github.distributedlock.backend.redis.wire.RedisFailures;
import io.github.distributedlock.backend.redis.wire.RedisRefusal;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.Message;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.SubscriptionListener;

/**
 * The master that Sentinels name. The clients' own ways leave a master too late that is
 * replaced while it answers: Lettuce when Sentinel demotes it, 10 s later.
 * <p>
 * States: not known, until it is first asked for; known, and watched by two threads, one
 * that asks all Sentinels each second, and one that listens to one of them, for that not
 * to be waited for; closed. While no Sentinel answers, the last one known stays.
 * <p>
 * A Sentinel may be cut off from the others and name a master that they have replaced.
 * Each replacement has a greater epoch, so the greatest counts. A smaller one than before
 * counts only if more than half of the Sentinels agree: they were set up anew.
 */
final class SentinelMaster implements Masters {

	private static final Logger logger = LoggerFactory.getLogger(SentinelMaster.class);

	private static final long PAUSE_MILLIS = 1_000;

	/** For so long one that gave no answer is not asked, if others answer. */
	private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(5);

	private static final byte[] CHANNEL = KeyNames.bytes("+switch-master");

	private final String name;

	private final List<Sentinel> sentinels;

	private final long timeoutMillis;

	private final List<Runnable> leavers = new CopyOnWriteArrayList<>();

	private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

	private final Semaphore news = new Semaphore(0);

	private final CountDownLatch closed = new CountDownLatch(1);

	private final List<Thread> threads = new CopyOnWriteArrayList<>();

	private volatile @Nullable Named master;

	/** What was named and not believed. Of the thread that asks. */
	private @Nullable Named doubtful;

	/**
	 * Creates it. Does no I/O.
	 * @param servers the Sentinels
	 * @param lines opens connections to one of them
	 * @param timeout how long each may take to answer
	 */
	SentinelMaster(RedisSentinelConfiguration servers,
			BiFunction<RedisSentinelConfiguration, RedisStandaloneConfiguration, SignalLine> lines, Duration timeout) {
		this.name = String.valueOf(Objects.requireNonNull(servers.getMaster(), "no name of a master").getName());
		this.sentinels = servers.getSentinels().stream().map((node) -> {
			RedisStandaloneConfiguration server = standalone(node);
			server.setUsername(servers.getSentinelUsername());
			server.setPassword(servers.getSentinelPassword());
			return new Sentinel(server.getHostName() + ":" + server.getPort(), lines.apply(servers, server));
		}).toList();
		this.timeoutMillis = timeout.toMillis();
	}

	static RedisStandaloneConfiguration standalone(RedisNode node) {
		return new RedisStandaloneConfiguration(String.valueOf(node.getHost()),
				(node.getPort() != null) ? node.getPort() : RedisNode.DEFAULT_SENTINEL_PORT);
	}

	/**
	 * Tells the master. Blocks until it is known.
	 * @throws org.springframework.dao.DataAccessException if no Sentinel tells
	 */
	RedisNode get() {
		Named known = this.master;
		return (known != null) ? known.node() : first();
	}

	private synchronized RedisNode first() {
		Named known = this.master;
		if (known == null) {
			requireOpen();
			known = greatest(ask());
			for (Runnable task : List.<Runnable>of(this::watch, this::listen)) {
				Thread thread = new Thread(task, "distributed-lock-sentinel");
				thread.setDaemon(true);
				this.threads.add(thread);
				thread.start();
			}
			this.master = known;
		}
		return known.node();
	}

	@Override
	public Object of(int slot) {
		Named known = this.master;
		return (known != null) ? known.node() : this;
	}

	/**
	 * Adds what leaves the old master at once when there is another. It must not block.
	 */
	void beforeSwitch(Runnable leaver) {
		this.leavers.add(leaver);
	}

	@Override
	public void onSwitch(Runnable listener) {
		this.listeners.add(listener);
	}

	private void watch() {
		try {
			while (!isClosed()) {
				this.news.tryAcquire(PAUSE_MILLIS, TimeUnit.MILLISECONDS);
				this.news.drainPermits();
				lookOnce();
			}
		}
		catch (InterruptedException ex) {
			logger.debug("Ended while it was asking a Sentinel", ex);
		}
		finally {
			this.sentinels.forEach(Sentinel::disconnect);
		}
	}

	private void lookOnce() {
		try {
			look();
		}
		catch (RuntimeException ex) {
			logger.debug("The Sentinels do not tell the master", ex);
		}
		catch (Error ex) {
			logger.warn("Could not ask the Sentinels for the master, trying again", ex);
		}
	}

	private void look() {
		List<Named> answers = ask();
		Named next = greatest(answers);
		Named known = this.master;
		if (known == null || isClosed()) {
			return;
		}
		if (next.node().equals(known.node())) {
			this.master = new Named(known.node(), Math.max(next.epoch(), known.epoch()));
			return;
		}
		long votes = answers.stream().filter((answer) -> answer.node().equals(next.node())).count();
		if (next.epoch() > known.epoch() || 2 * votes > this.sentinels.size()) {
			logger.info("Sentinels name {} as the master of locks instead of {}", next.node(), known.node());
			this.master = next;
			this.leavers.forEach(SentinelMaster::tell);
			this.listeners.forEach(SentinelMaster::tell);
		}
		else if (!next.equals(this.doubtful)) {
			this.doubtful = next;
			logger.warn(
					"{} of {} Sentinels name {} as the master of locks, which is not enough to leave {}: they are"
							+ " cut off from the others, or their user may not call SENTINEL MASTER",
					votes, this.sentinels.size(), next.node(), known.node());
		}
	}

	private static void tell(Runnable one) {
		try {
			one.run();
		}
		catch (RuntimeException | Error ex) {
			logger.error("What leaves a master, or is told of another, failed", ex);
		}
	}

	// Of several with the same epoch, that of most. The text makes the order whole.
	private static Named greatest(List<Named> answers) {
		return answers.stream()
			.max(Comparator.comparingLong(Named::epoch)
				.thenComparingLong((one) -> answers.stream().filter(one::equals).count())
				.thenComparing(Named::toString))
			.orElseThrow();
	}

	private List<Named> ask() {
		List<RuntimeException> failures = new ArrayList<>();
		Map<Boolean, List<Sentinel>> byRest = this.sentinels.stream()
			.collect(Collectors.partitioningBy(Sentinel::rests));
		List<Named> answers = answers(byRest.getOrDefault(false, List.of()), failures);
		if (answers.isEmpty()) {
			answers = answers(byRest.getOrDefault(true, List.of()), failures);
		}
		if (answers.isEmpty()) {
			RuntimeException why = failures.stream()
				.filter((failure) -> RedisRefusal.of(failure) != null)
				.findFirst()
				.orElse(failures.isEmpty() ? null : failures.get(0));
			throw new RedisConnectionFailureException(
					"None of the Sentinels " + this.sentinels + " names the master of '" + this.name + "': "
							+ ((why != null) ? RedisFailures.lastWord(why) : "none is configured"),
					why);
		}
		return answers;
	}

	private List<Named> answers(List<Sentinel> asked, List<RuntimeException> failures) {
		List<Named> answers = new ArrayList<>();
		for (Sentinel sentinel : asked) {
			requireOpen();
			try {
				answers.add(sentinel.ask(this.name));
			}
			catch (RuntimeException ex) {
				logger.debug("Sentinel {} does not tell the master", sentinel, ex);
				failures.add(ex);
			}
		}
		return answers;
	}

	// To one after the other, whenever a subscription ends.
	private void listen() {
		for (int i = 0; !isClosed(); i = (i + 1) % this.sentinels.size()) {
			try {
				this.sentinels.get(i).listen(new News(), this::isClosed);
			}
			catch (RuntimeException | Error ex) {
				logger.debug("Could not listen to Sentinel {}", this.sentinels.get(i), ex);
			}
			pause();
		}
	}

	private void pause() {
		try {
			this.closed.await(PAUSE_MILLIS, TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private boolean isClosed() {
		return this.closed.getCount() == 0;
	}

	private void requireOpen() {
		if (isClosed()) {
			throw new IllegalStateException("the lock backend is closed");
		}
	}

	@Override
	public void end() {
		this.closed.countDown();
		this.news.release();
		this.sentinels.forEach(Sentinel::drop);
		this.threads.forEach(this::end);
		this.sentinels.forEach((sentinel) -> sentinel.line.close());
	}

	private void end(Thread thread) {
		LockSupport.unpark(thread);
		try {
			thread.join(this.timeoutMillis);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		if (thread.isAlive()) {
			thread.interrupt();
		}
	}

	/**
	 * What a Sentinel answers.
	 *
	 * @param node the master
	 * @param epoch how often it was replaced; 0 if the Sentinel does not tell us
	 */
	private record Named(RedisNode node, long epoch) {
	}

	/**
	 * Of another master, of whatever name, or of a new subscription, before which some
	 * may have been missed.
	 */
	private final class News implements MessageListener, SubscriptionListener {

		@Override
		public void onMessage(Message message, byte @Nullable [] pattern) {
			SentinelMaster.this.news.release();
		}

		@Override
		public void onChannelSubscribed(byte[] channel, long count) {
			SentinelMaster.this.news.release();
			if (isClosed()) {
				SentinelMaster.this.sentinels.forEach(Sentinel::drop);
			}
		}

	}

	/**
	 * One of them. Asked by one thread at a time, and listened to by another.
	 */
	private static final class Sentinel {

		private static final byte[] MASTER = KeyNames.bytes("MASTER");

		private static final byte[] ADDRESS = KeyNames.bytes("GET-MASTER-ADDR-BY-NAME");

		private final String address;

		private final SignalLine line;

		private @Nullable RedisConnection asked;

		private volatile @Nullable RedisConnection heard;

		private long failedAt = System.nanoTime() - REST_NANOS;

		private Sentinel(String address, SignalLine line) {
			this.address = address;
			this.line = line;
		}

		private boolean rests() {
			return System.nanoTime() - this.failedAt < REST_NANOS;
		}

		private Named ask(String name) {
			try {
				RedisConnection connection = (this.asked != null) ? this.asked : this.line.open();
				this.asked = connection;
				Link link = this.line.link(connection);
				byte[] master = KeyNames.bytes(name);
				// Before the address: of a replacement between them the next will tell.
				long epoch = epoch(link, master);
				if (link.call(Command.of(Verb.SENTINEL, ADDRESS, master)) instanceof List<?> node && node.size() == 2) {
					return new Named(new RedisNode(text(node.get(0)), Integer.parseInt(text(node.get(1)))), epoch);
				}
				throw new RedisConnectionFailureException(
						"Sentinel " + this + " knows no master of the name '" + name + "'");
			}
			catch (RuntimeException ex) {
				this.failedAt = System.nanoTime();
				drop(); // It may be the one that is dead, and not tell.
				disconnect();
				throw ex;
			}
		}

		private static long epoch(Link link, byte[] master) {
			try {
				List<?> fields = (link.call(Command.of(Verb.SENTINEL, MASTER, master)) instanceof List<?> reply) ? reply
						: List.of();
				for (int i = 0; i + 1 < fields.size(); i += 2) {
					if (text(fields.get(i)).equals("config-epoch")) {
						return Long.parseLong(text(fields.get(i + 1)));
					}
				}
			}
			catch (RuntimeException ex) {
				// A user who may only ask for addresses: then most count.
				if (RedisRefusal.of(ex) == null && !RedisRefusal.isError(ex)) {
					throw ex;
				}
			}
			return 0;
		}

		private static String text(@Nullable Object bytes) {
			return (bytes != null) ? KeyNames.text((byte[]) bytes) : "";
		}

		private void disconnect() {
			RedisConnection connection = this.asked;
			this.asked = null;
			if (connection != null) {
				connection.close();
			}
		}

		private void listen(News news, BooleanSupplier over) {
			try (RedisConnection connection = this.line.open()) {
				this.heard = connection;
				this.line.listen(connection, news, CHANNEL, over);
			}
			finally {
				this.heard = null;
			}
		}

		private void drop() {
			RedisConnection connection = this.heard;
			if (connection != null) {
				try {
					this.line.drop(connection);
				}
				catch (RuntimeException ex) {
					logger.debug("The subscription to Sentinel {} had ended already", this, ex);
				}
			}
		}

		@Override
		public String toString() {
			return this.address;
		}

	}

}
