package io.github.distributedlock.backend.jdbc;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockFeature;
import io.github.distributedlock.backend.OptimisticLockBackend;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.internal.DaemonThreads;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store in a table of PostgreSQL, MySQL, MariaDB or H2. Only the table and the clock of
 * the database count. No statement is part of the caller's transaction, or waits for the
 * transaction of another statement, and each statement is committed before the answer.
 * <p>
 * Each key has a row. One statement takes a free key, renews leases, leaves a lease to
 * expire, or releases a key; on PostgreSQL the release also grants the key to the oldest
 * waiter. Any other step reads the row, and writes the row unless somebody else has
 * changed the row meanwhile. Waiters have places, so that JVMs take turns. PostgreSQL
 * notifies waiters; on other databases, waiters poll.
 * <p>
 * Safe for use by many threads. Does no I/O before the first use.
 *
 * @since 1.0
 */
public final class JdbcLockBackend implements LockBackend {

	private static final Logger logger = LoggerFactory.getLogger(JdbcLockBackend.class);

	/**
	 * How many command timeouts a check takes at most. Each of the many statements of a
	 * check takes one at most.
	 */
	private static final int COMMANDS_OF_CHECK = 10;

	private static final long HOUSEKEEPING_SECONDS = 60;

	private final JdbcLockSettings settings;

	private final Connections connections;

	private final Connections.Kept renewals;

	private final PostgresNotifications notifications;

	private final ScheduledThreadPoolExecutor housekeeping = new ScheduledThreadPoolExecutor(1,
			DaemonThreads.named("distributed-lock-housekeeping"));

	private boolean started;

	/**
	 * {@code true} once the table and the settings of the server are known to be fit for
	 * locks.
	 */
	private volatile boolean checked;

	/**
	 * The check that a request makes before the first lock, while the check runs.
	 */
	private final AtomicReference<@Nullable CompletableFuture<Void>> firstCheck = new AtomicReference<>();

	/**
	 * Creates a store, which does not connect yet.
	 * @param dataSource the source of connections: one for each step, for the time of one
	 * statement or two; one for renewals, which is kept; and on PostgreSQL one for
	 * notifications. This store does not close the data source
	 * @param settings the settings of the store
	 * @throws IllegalArgumentException if the connections would be those of the caller's
	 * transactions
	 */
	public JdbcLockBackend(DataSource dataSource, JdbcLockSettings settings) {
		this.settings = Objects.requireNonNull(settings, "settings");
		this.connections = new Connections(Objects.requireNonNull(dataSource, "dataSource"), settings);
		this.renewals = this.connections.new Kept();
		this.notifications = new PostgresNotifications(this.connections, settings);
	}

	@Override
	public Map<String, String> details() {
		Statements statements = this.connections.statements();
		String platform = (statements != null) ? statements.platform.name().toLowerCase(Locale.ROOT) : "jdbc";
		return Map.of("type", platform, "table", this.settings.table());
	}

	/**
	 * Returns the features. Notifications and grants are among them once the database is
	 * known to be PostgreSQL.
	 */
	@Override
	public Set<LockFeature> features() {
		Set<LockFeature> features = EnumSet.copyOf(OptimisticLockBackend.FEATURES);
		if (notifies()) {
			features.add(LockFeature.NOTIFICATIONS);
			features.add(LockFeature.GRANTS);
		}
		return features;
	}

	private boolean notifies() {
		Statements statements = this.connections.statements();
		return this.settings.notifications() && statements != null && statements.platform == Platform.POSTGRESQL;
	}

	@Override
	public Duration reservation() {
		return Rows.LONGEST_POLL;
	}

	@Override
	public synchronized void start() {
		if (!this.started) {
			this.started = true;
			long first = ThreadLocalRandom.current().nextLong(HOUSEKEEPING_SECONDS);
			this.housekeeping.scheduleWithFixedDelay(this::deleteExpired, first, HOUSEKEEPING_SECONDS,
					TimeUnit.SECONDS);
		}
	}

	/**
	 * Deletes the rows of keys that have been free for the time of retention.
	 */
	void deleteExpired() {
		try {
			boolean more = true;
			while (more && !this.housekeeping.isShutdown()) {
				more = this.connections.run("delete rows of released locks", Session::sweep);
			}
		}
		catch (RuntimeException ex) {
			logger.debug("The rows of released locks stay for now", ex);
		}
	}

	@Override
	public void check() {
		check((name, step) -> this.renewals.run(name, COMMANDS_OF_CHECK, step));
		this.connections.require(notifies() ? 3 : 2);
	}

	/**
	 * Checks the table and the settings of the server.
	 * @param runner runs a named step, on a borrowed connection or on a kept one
	 */
	private void check(BiConsumer<String, Connections.Step<Boolean>> runner) {
		runner.accept("use the table " + this.settings.table(), (session) -> {
			TableCheck.run(session);
			return true;
		});
		runner.accept("read the settings of the database", (session) -> {
			ServerSettings.check(session);
			return true;
		});
		this.checked = true;
	}

	/**
	 * Checks the database before the first lock, since the database may have been down at
	 * the start. One request checks; the requests that come meanwhile wait for the result
	 * of that check, since many checks at once would keep a weak server from its work.
	 */
	private void checkOnce() {
		CompletableFuture<Void> own = new CompletableFuture<>();
		CompletableFuture<Void> running = this.firstCheck.compareAndExchange(null, own);
		if (running != null) {
			try {
				running.join();
			}
			catch (CompletionException ex) {
				Throwable failure = Objects.requireNonNull(ex.getCause());
				throw LockBackendException
					.of("The check of the database for another request failed: " + failure.getMessage())
					.retryable(failure instanceof LockBackendException refused && refused.isRetryable())
					.withoutEffect(true)
					.cause(failure)
					.build();
			}
			return;
		}
		try {
			if (!this.checked) {
				check((name, step) -> this.connections.run(name, COMMANDS_OF_CHECK, step));
			}
			own.complete(null);
		}
		catch (RuntimeException | Error ex) {
			own.completeExceptionally(ex);
			throw ex;
		}
		finally {
			this.firstCheck.set(null);
		}
	}

	@Override
	public AcquireResult acquire(Claim claim) {
		AcquireResult result = run("acquire", claim.key(), (rows) -> rows.acquire(claim));
		if (Claim.isRecallable(claim.owner()) && notifies()) {
			this.notifications.begin(claim.instance()); // The platform is known now.
		}
		return result;
	}

	@Override
	public AcquireResult acquireOrRegister(Claim claim) {
		Claim heard = grantableIfHeard(claim);
		return run("acquire", heard.key(), (rows) -> rows.acquireOrRegister(heard));
	}

	/**
	 * Waits until the instance of a claim hears notifications, a command timeout at most.
	 * An instance that does not hear is granted nothing, since a grant that nobody hears
	 * of costs the time of its lease.
	 */
	private Claim grantableIfHeard(Claim claim) {
		if (notifies()) {
			this.notifications.awaitHearing(claim.instance());
		}
		return this.notifications.hears(claim.instance()) ? claim : claim.number(0);
	}

	@Override
	public boolean grantsTo(String instance) {
		return notifies() && this.notifications.mayHear();
	}

	// The lease is long enough to repeat a renewal that got no answer.
	@Override
	public Duration grantLease() {
		Duration slow = this.settings.commandTimeout().multipliedBy(5);
		Duration least = LockBackend.super.grantLease();
		return (slow.compareTo(least) > 0) ? slow : least;
	}

	@Override
	public boolean release(String key, String owner) {
		return run("release", key, (rows) -> rows.release(key, owner));
	}

	@Override
	public void forget(Claim claim) {
		this.connections.settle();
		run("release", claim.key(), (rows) -> {
			rows.forget(claim);
			return true;
		});
	}

	@Override
	public boolean leaveToExpire(String key, String owner, Duration rest) {
		return run("release", key, (rows) -> rows.leaveToExpire(key, owner, rest));
	}

	@Override
	public List<Boolean> renew(List<Renewal> renewals) {
		Set<Renewal> owned = new HashSet<>();
		renewals.stream().collect(Collectors.groupingBy(Renewal::lease)).forEach((lease, same) -> {
			String step = "renew " + same.size() + " locks, of which one is '" + same.get(0).key() + "'";
			List<Boolean> renewed = this.renewals.run(step, (session) -> Rows.run(session, (rows) -> rows.renew(same)));
			IntStream.range(0, same.size()).filter(renewed::get).mapToObj(same::get).forEach(owned::add);
		});
		return renewals.stream().map(owned::contains).toList();
	}

	@Override
	public boolean downgrade(String key, String owner) {
		return run("downgrade", key, (rows) -> rows.downgrade(key, owner));
	}

	@Override
	public void withdraw(String key, Waiter waiter, Set<String> owners) {
		run("withdraw from", key, (rows) -> {
			rows.withdraw(key, waiter, owners);
			return true;
		});
	}

	@Override
	public HandOverResult pass(String owner, Claim claim, boolean yields) {
		Claim next = grantableIfHeard(claim);
		return run("pass on", next.key(), (rows) -> rows.pass(owner, next, yields));
	}

	@Override
	public LockStatus inspect(String key) {
		return run("inspect", key, (rows) -> rows.inspect(key));
	}

	@Override
	public Listening listen(String instance, ReleaseListener listener) {
		return this.notifications.listen(instance, listener);
	}

	@Override
	public void checkKey(String key) {
		byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
		if (bytes.length > Platform.LONGEST_KEY) {
			throw refusal(key, "has " + bytes.length + " bytes in UTF-8",
					"a database can keep at most " + Platform.LONGEST_KEY + ". Lock by an identifier, not by content");
		}
		if (key.indexOf('\0') >= 0 || !key.equals(new String(bytes, StandardCharsets.UTF_8))) {
			throw refusal(key, "has a character that no text of a database can hold",
					"leave out NUL and half surrogate pairs");
		}
	}

	private static IllegalArgumentException refusal(String key, String problem, String remedy) {
		return new IllegalArgumentException(
				"Lock key '" + LockException.printable(key.substring(0, Math.min(40, key.length()))) + "…' " + problem
						+ ": " + remedy);
	}

	/**
	 * Carries out a step on one key.
	 * @throws IllegalArgumentException if the database cannot keep the key
	 */
	private <T> T run(String step, String key, Function<Rows, T> action) {
		checkKey(key);
		if (!this.checked) {
			checkOnce();
		}
		return this.connections.run(step + " lock '" + key + "'", (session) -> Rows.run(session, action));
	}

	/**
	 * Gives back the connections that this store keeps, and ends the thread of the
	 * notifications. The data source stays open.
	 */
	@Override
	public void disconnect() {
		this.renewals.close();
		this.notifications.disconnect();
	}

	@Override
	public void close() {
		this.housekeeping.shutdownNow();
		this.notifications.close();
		this.renewals.close();
		this.connections.close();
	}

}
