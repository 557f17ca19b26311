package io.github.distributedlock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import javax.sql.DataSource;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.LockBackend.Listening;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.tck.Ear;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.postgresql.core.Notification;
import org.slf4j.LoggerFactory;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

/**
 * Effects that only a server shows: notifications, turns of several engines, and
 * connections that the server ends.
 */
class PostgresLocksTests {

	private static final Duration LEASE = Duration.ofMinutes(10);

	private static HikariDataSource pool;

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	private final JdbcTemplate database = new JdbcTemplate(pool);

	@BeforeAll
	static void start() {
		pool = Postgres.pool(Postgres.shared());
	}

	@AfterAll
	static void stop() {
		pool.close();
	}

	@BeforeEach
	void emptyTable() {
		this.database.execute("drop table if exists distributed_lock");
		this.database.execute(Platform.POSTGRESQL.schema("distributed_lock"));
	}

	private static JdbcLockBackend backend(DataSource connections) {
		JdbcLockBackend backend = new JdbcLockBackend(connections, Patient.SETTINGS);
		backend.check();
		return backend;
	}

	/**
	 * The connections include some that are as unfit as a pool can make them.
	 */
	@Test
	@Tag("thorough")
	void enginesTakeTurnsAndNoUpdateIsLost() {
		HikariConfig config = new HikariConfig();
		config.setDataSource(Postgres.shared().getPostgresDatabase());
		config.setAutoCommit(false);
		config.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
		try (HikariDataSource unfit = new HikariDataSource(config); JdbcLockBackend gate = backend(pool)) {
			hold(gate, "k", "gate");
			takeTurns(unfit, gate);
		}
	}

	/**
	 * In the first half, each one keeps the key until all others wait: a thread that a
	 * busy machine stops between two requests for half a second would miss as many turns.
	 */
	private void takeTurns(HikariDataSource connections, JdbcLockBackend gate) {
		int engines = 3;
		int rounds = 60;
		AtomicInteger inside = new AtomicInteger();
		List<Integer> order = new ArrayList<>();
		List<CompletableFuture<Void>> contenders = IntStream.range(0, engines)
			.mapToObj((number) -> CompletableFuture.runAsync(() -> {
				try (JdbcLockBackend store = backend(connections);
						LockEngine engine = LockEngine.builder(store).build()) {
					for (int i = 0; i < rounds; i++) {
						try (LockHandle handle = engine.acquire(LockRequest.of("k").waitTime(Patience.PATIENCE))) {
							assertThat(inside.incrementAndGet()).isOne();
							order.add(number); // Guarded by the lock alone.
							if (order.size() <= engines * rounds / 2) {
								awaitWaiters(gate, engines - 1);
							}
							inside.decrementAndGet();
						}
					}
				}
			}, this.threads))
			.toList();
		awaitWaiters(gate, engines);
		gate.release("k", "gate:1");
		contenders.forEach((contender) -> Patience.get(contender, "all rounds"));
		assertThat(order).hasSize(engines * rounds);
		// While all contend, none has two rounds of three.
		int least = IntStream.range(0, engines)
			.map((number) -> (int) order.subList(0, engines * rounds / 2)
				.stream()
				.filter((each) -> each == number)
				.count())
			.min()
			.orElseThrow();
		assertThat(least).as("rounds of one of three engines in the first 90: %s", order).isGreaterThanOrEqualTo(15);
	}

	private static void awaitWaiters(JdbcLockBackend store, int count) {
		Awaitility.await()
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(5))
			.until(() -> store.inspect("k").waiters().size() == count);
	}

	@ParameterizedTest
	@ValueSource(strings = { "TRANSACTION_READ_COMMITTED", "TRANSACTION_REPEATABLE_READ" })
	void aTransactionThatWasLeftOpenIsNotThatOfALock(String isolation) {
		HikariConfig config = new HikariConfig();
		config.setTransactionIsolation(isolation);
		config.setDataSource(Postgres.shared().getPostgresDatabase());
		config.setMaximumPoolSize(2);
		config.setMinimumIdle(1);
		JdbcLockSettings settings = Patient.SETTINGS.notifications(false);
		try (HikariDataSource small = new HikariDataSource(config);
				JdbcLockBackend store = new JdbcLockBackend(small, settings);
				JdbcLockBackend other = new JdbcLockBackend(pool, settings)) {
			store.check(); // Keeps one of the two connections.
			new JdbcTemplate(small).execute("begin");
			hold(store, "k", "a");
			assertThat(other.inspect("k").holders()).extracting(LockStatus.Holder::owner).containsExactly("a:1");
		}
	}

	// Grants

	/**
	 * The waiter can ask nothing any more, after a while of polls.
	 */
	@Test
	void aReleasedKeyComesWithItsNotification() {
		AtomicBoolean refuses = new AtomicBoolean();
		DataSource refusing = new DelegatingDataSource(pool) {

			@Override
			public Connection getConnection() throws SQLException {
				if (refuses.get()) {
					throw new SQLTransientConnectionException("No connection is left");
				}
				return super.getConnection();
			}

		};
		LockRequest request = LockRequest.of("k").waitTime(Duration.ofMinutes(5)).detached(true);
		try (JdbcLockBackend first = backend(pool);
				JdbcLockBackend second = backend(refusing);
				LockEngine holder = LockEngine.builder(first).build();
				LockEngine waiter = LockEngine.builder(second).build()) {
			// Again where the machine is so slow that the waiter seems to be dead.
			Awaitility.await().until(() -> {
				LockHandle held = holder.acquire(request);
				CompletableFuture<LockHandle> waiting = CompletableFuture.supplyAsync(() -> waiter.acquire(request),
						this.threads);
				Awaitility.await("the fourth attempt")
					.until(() -> this.database
						.queryForObject("select coalesce(substring(waiters from ' claim ([0-9]+) of '),"
								+ " '0')::int from distributed_lock where lock_key = 'k'", Integer.class) >= 4);
				refuses.set(true);
				held.close();
				boolean granted = ends(waiting);
				refuses.set(false);
				Patience.get(waiting, "the key").close();
				return granted;
			});
			Awaitility.await().until(() -> holder.inspect("k").isFree());
		}
	}

	private static boolean ends(CompletableFuture<?> waiting) throws Exception {
		try {
			waiting.get(Rows.SILENCE.toSeconds(), TimeUnit.SECONDS);
			return true;
		}
		catch (TimeoutException ex) {
			return false;
		}
	}

	@Test
	void aWaiterThatHearsNothingIsNotGrantedTheKey() {
		try (JdbcLockBackend store = backend(pool)) {
			assertReserved(store, () -> {
				hold(store, "k", "a");
				store.acquireOrRegister(claim("k", "deaf").number(1));
				store.release("k", "a:1");
			});
		}
	}

	/**
	 * Asserts that a key is reserved after some steps, which are carried out again where
	 * the machine is so slow that the reservation has ended.
	 */
	private void assertReserved(JdbcLockBackend store, Runnable steps) {
		Awaitility.await().until(() -> {
			this.database.update("delete from distributed_lock");
			steps.run();
			AcquireResult next = store.acquire(claim("k", "next"));
			assertThat(next.acquired() || next.holder().isReservation()).as("reserved, not granted").isTrue();
			return !next.acquired();
		});
	}

	@Test
	void norIsOneThatHasPassedItOn() {
		try (JdbcLockBackend store = backend(pool)) {
			store.listen("b", new Ear());
			// Again where the machine is so slow that the claim is too old for a grant.
			assertReserved(store, () -> Awaitility.await("a grant").until(() -> {
				this.database.update("delete from distributed_lock");
				hold(store, "k", "deaf");
				store.acquireOrRegister(claim("k", "b").number(1));
				store.pass("deaf:1", Claim.of("k", "deaf:2", "deaf", LEASE).number(1), true);
				return store.release("k", "b:1");
			}));
		}
	}

	@Test
	void onlyWhoMayHearIsGrantedAKey() {
		try (JdbcLockBackend store = new JdbcLockBackend(pool, Patient.SETTINGS);
				JdbcLockBackend deaf = new JdbcLockBackend(pool, Patient.SETTINGS.notifications(false))) {
			assertThat(store.grantsTo("a")).as("not connected yet").isFalse();
			store.check();
			deaf.check();
			assertThat(store.grantsTo("a")).isTrue();
			assertThat(deaf.grantsTo("a")).isFalse();
		}
	}

	@Test
	void aGrantLastsForFiveCommandTimeoutsAndThreeSecondsAtLeast() {
		JdbcLockSettings settings = JdbcLockSettings.defaults();
		try (JdbcLockBackend usual = new JdbcLockBackend(pool, settings);
				JdbcLockBackend fast = new JdbcLockBackend(pool, settings.commandTimeout(Duration.ofMillis(100)))) {
			assertThat(usual.grantLease()).isEqualTo(Duration.ofSeconds(10));
			assertThat(fast.grantLease()).isEqualTo(Duration.ofSeconds(3));
		}
	}

	/**
	 * Between the look at the waiters and the release, which waits for a foreign
	 * transaction.
	 */
	@Test
	void aWaiterThatComesDuringTheReleaseIsGrantedTheKey() throws SQLException {
		try (JdbcLockBackend store = backend(pool); Connection foreign = pool.getConnection()) {
			Ear ear = new Ear();
			store.listen("b", ear);
			// Again where the machine is so slow that the claim is too old for a grant.
			Awaitility.await("a grant").until(() -> {
				this.database.update("delete from distributed_lock");
				hold(store, "k", "a");
				store.acquireOrRegister(claim("k", "b").number(1));
				String waiters = this.database
					.queryForObject("select waiters from distributed_lock where lock_key = 'k'", String.class);
				this.database.update("update distributed_lock set waiters = '-' where lock_key = 'k'");
				foreign.setAutoCommit(false);
				new JdbcTemplate(new SingleConnectionDataSource(foreign, true)).update(
						"update distributed_lock set waiters = ?, version = version + 1 where lock_key = 'k'", waiters);
				CompletableFuture<Boolean> released = CompletableFuture.supplyAsync(() -> store.release("k", "a:1"),
						this.threads);
				Awaitility.await()
					.until(() -> this.database.queryForObject("select count(*) from pg_locks where not granted",
							Integer.class) > 0);
				foreign.commit();
				foreign.setAutoCommit(true);
				assertThat(Patience.get(released, "the release")).isTrue();
				ear.awaitWake("k");
				LockStatus.Holder holder = store.inspect("k").holders().get(0);
				// The holder's number is not told, because the claim came so late.
				return holder.owner().equals("b:1") && holder.state() == LockStatus.State.HELD;
			});
		}
	}

	// Notifications

	@Test
	void aReleaseThatNobodyWaitsForNotifiesNobody() {
		try (JdbcLockBackend store = backend(pool)) {
			Ear ear = new Ear();
			Listening listening = store.listen("b", ear);
			hold(store, "held", "a");
			store.acquireOrRegister(claim("held", "b"));
			assertThat(listening.hears()).isTrue();
			hold(store, "free", "a");
			store.release("free", "a:1");
			store.release("held", "a:1");
			ear.awaitWake("held");
			assertThat(ear.heard()).containsExactly("held");
		}
	}

	@Test
	void anAttemptOnABusyKeyChangesNothing() {
		try (JdbcLockBackend store = backend(pool)) {
			hold(store, "k", "a");
			String next = "select pg_snapshot_xmax(pg_current_snapshot())::text";
			String before = this.database.queryForObject(next, String.class);
			assertThat(store.acquire(claim("k", "b")).acquired()).isFalse();
			assertThat(this.database.queryForObject(next, String.class)).as("the next transaction that writes")
				.isEqualTo(before);
		}
	}

	@Test
	void aConnectionThatTheServerEndsIsReplacedAndWaitersLearnIt() {
		try (JdbcLockBackend store = backend(pool)) {
			Ear ear = new Ear();
			Listening listening = store.listen("b", ear);
			hold(store, "k", "a");
			store.acquireOrRegister(claim("k", "b"));
			this.database.queryForList(
					"select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and query ilike '%listen%'");
			Awaitility.await().until(() -> ear.resubscriptions() > 0);
			assertThat(listening.hears()).isTrue();
			store.release("k", "a:1");
			ear.awaitWake("k");
		}
	}

	@Test
	void whatIsNoNotificationOfOursIsIgnored() {
		try (JdbcLockBackend store = backend(pool)) {
			Ear ear = new Ear();
			Listening listening = store.listen("b", ear);
			hold(store, "k", "a");
			store.acquireOrRegister(claim("k", "b"));
			String channel = Statements.channel("distributed_lock", "b");
			for (String payload : List.of("", "b", "exclusive b some key", "exclusive b 99999999999999999999 k",
					"exclusive stranger 0 k", "something b 0 k")) {
				this.database.queryForList("select pg_notify(?, ?)", channel, payload);
			}
			store.release("k", "a:1");
			ear.awaitWake("k");
			assertThat(ear.heard()).containsExactly("k");
			assertThat(ear.resubscriptions()).isZero();
			assertThat(listening.hears()).isTrue();
		}
	}

	@Test
	void aReleaseIsCarriedOutThoughItsNotificationIsRefused() {
		DataSource refusing = Watched.connections(pool, (method, arguments) -> {
			if (method.equals("prepareStatement") && arguments[0].toString().contains("pg_notify")) {
				throw new SQLException("too many notifications in the NOTIFY queue", "54000");
			}
		});
		try (JdbcLockBackend first = backend(refusing); JdbcLockBackend second = backend(pool)) {
			second.listen("b", new Ear());
			hold(first, "k", "a");
			second.acquireOrRegister(claim("k", "b").number(1));
			assertThat(first.release("k", "a:1")).isTrue();
			assertThat(second.acquireOrRegister(claim("k", "b").number(2)).acquired()).isTrue();
		}
	}

	/**
	 * A notification takes a lock of the whole server.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "a:1", "a:1~" })
	void onlyAKeyThatIsRecalledCostsAStatementMore(String owner) {
		List<String> statements = new CopyOnWriteArrayList<>();
		DataSource watched = Watched.connections(pool, (method, arguments) -> {
			if (method.equals("prepareStatement")) {
				statements.add(arguments[0].toString());
			}
		});
		try (JdbcLockBackend store = backend(watched)) {
			assertThat(store.acquire(Claim.of("k", owner, "a", LEASE)).acquired()).isTrue();
			boolean recalls = owner.endsWith(Claim.RECALLABLE);
			for (Runnable step : List.<Runnable>of(() -> store.acquire(claim("k", "b")),
					() -> store.acquireOrRegister(claim("k", "b")),
					() -> store.pass("c:lost", claim("k", "c"), false))) {
				statements.clear();
				step.run();
				assertThat(statements).hasSize(recalls ? 3 : 2);
				assertThat(statements.get(statements.size() - 1).contains("pg_notify")).isEqualTo(recalls);
			}
		}
	}

	/**
	 * The queue of the server looks full when the second JVM starts.
	 */
	@Test
	void anInstanceThatCannotWakeTheListenerPolls() {
		AtomicBoolean refuses = new AtomicBoolean();
		DataSource refusing = Watched.connections(pool, (method, arguments) -> {
			if (method.equals("prepareStatement") && arguments[0].toString().contains("*/ notify") && refuses.get()) {
				throw new SQLException("too many notifications in the NOTIFY queue", "54000");
			}
		});
		try (JdbcLockBackend store = backend(refusing)) {
			hold(store, "k", "a");
			Listening first = store.listen("b", new Ear());
			store.acquireOrRegister(claim("k", "b"));
			assertThat(first.hears()).isTrue();
			refuses.set(true);
			store.listen("c", new Ear());
			assertThat(store.acquireOrRegister(claim("k", "c").number(1)).acquired()).isFalse();
			assertThat(store.inspect("k").waiters()).hasSize(2);
		}
	}

	@ParameterizedTest
	@CsvSource({ "notify, 54000", "listen, 42501" })
	void refusedNotificationsLetRequestsPoll(String refused, String code) {
		AtomicInteger ended = new AtomicInteger();
		DataSource refusing = Watched.connections(pool, (method, arguments) -> {
			if (method.equals("abort")) {
				ended.incrementAndGet();
			}
			if (method.equals("prepareStatement") && arguments[0].toString().contains("*/ " + refused)) {
				throw new SQLException("refused by the test", code);
			}
		});
		try (JdbcLockBackend store = backend(refusing)) {
			hold(store, "k", "a");
			Listening listening = store.listen("b", new Ear());
			assertThat(store.acquireOrRegister(claim("k", "b").number(1)).acquired()).isFalse();
			assertThat(listening.isKnown()).isTrue();
			assertThat(listening.hears()).isFalse();
			assertThat(ended).hasValue(0);
		}
	}

	/**
	 * The connection comes from a pool, where somebody else has listened with the same
	 * connection before.
	 */
	@Test
	void notificationsOfAnEarlierListenerAreNotTakenForSilence() {
		PGNotification[] earlier = { new Notification("earlier", 1) };
		DataSource used = Watched.connections(pool, (connection, method, arguments) -> {
			if (!method.equals("unwrap") || arguments[0] != PGConnection.class) {
				return null;
			}
			AtomicBoolean read = new AtomicBoolean();
			return Watched.object(PGConnection.class, connection.unwrap(PGConnection.class),
					(call, values) -> (call.equals("getNotifications") && !read.getAndSet(true)) ? earlier : null);
		});
		try (JdbcLockBackend store = backend(used)) {
			hold(store, "k", "a");
			Listening listening = store.listen("b", new Ear());
			store.acquireOrRegister(claim("k", "b"));
			assertThat(listening.hears()).isTrue();
		}
	}

	@Test
	void pausesGrowWhileListeningFails() {
		int pause = PostgresNotifications.pause(60_000, false);
		assertThat(pause).isEqualTo(1_000);
		assertThat(PostgresNotifications.pause(pause, true)).isEqualTo(2_000);
		assertThat(PostgresNotifications.pause(48_000, true)).isEqualTo(60_000);
	}

	@Test
	void noConnectionThatListensIsLentToOthers() {
		CountDownLatch ended = new CountDownLatch(1);
		DataSource watched = Watched.connections(pool, (method, arguments) -> {
			if (method.equals("abort")) {
				ended.countDown();
			}
		});
		try (JdbcLockBackend store = backend(watched)) {
			Listening listening = store.listen("b", new ReleaseListener() {

				@Override
				public void onRelease(ReleaseNotification notification) {
					throw new IllegalStateException("The listener has failed");
				}

				@Override
				public void onResubscribed() {
				}

			});
			hold(store, "k", "a");
			store.acquireOrRegister(claim("k", "b"));
			assertThat(listening.hears()).isTrue();
			store.release("k", "a:1");
			Patience.await(ended, "the end of the connection");
		}
	}

	/**
	 * Such as the error of an engine that can have no more threads.
	 */
	@Test
	void errorOfAListenerDoesNotEndListening() {
		CountDownLatch resubscribed = new CountDownLatch(1);
		try (JdbcLockBackend store = backend(pool)) {
			Listening listening = store.listen("b", new ReleaseListener() {

				@Override
				public void onRelease(ReleaseNotification notification) {
					throw new OutOfMemoryError("unable to create native thread (test)");
				}

				@Override
				public void onResubscribed() {
					resubscribed.countDown();
				}

			});
			hold(store, "k", "a");
			store.acquireOrRegister(claim("k", "b"));
			assertThat(listening.hears()).isTrue();
			store.release("k", "a:1");
			Patience.await(resubscribed, "another connection");
			assertThat(listening.hears()).isTrue();
		}
	}

	@Test
	void waitersPollWithoutDelayWhereTheDriverIsHidden() {
		DataSource hidden = Watched.connections(pool, (method, arguments) -> {
			if (method.equals("unwrap")) {
				throw new NoClassDefFoundError("org/postgresql/PGConnection");
			}
		});
		try (JdbcLockBackend store = new JdbcLockBackend(hidden,
				JdbcLockSettings.defaults().commandTimeout(Duration.ofMinutes(10)))) {
			store.check();
			Listening listening = store.listen("b", new Ear());
			hold(store, "k", "a");
			Patience.get(CompletableFuture.runAsync(() -> store.acquireOrRegister(claim("k", "b")), this.threads),
					"a registration that hears nothing");
			assertThat(listening.isKnown()).isTrue();
			assertThat(listening.hears()).isFalse();
		}
	}

	@Test
	@Tag("thorough")
	void anotherEngineHearsAfterTheFirstHasClosed() {
		try (JdbcLockBackend store = backend(pool)) {
			hold(store, "k", "a");
			Listening first = store.listen("b", new Ear());
			store.acquireOrRegister(claim("k", "b"));
			assertThat(first.hears()).isTrue();
			first.close();
			Awaitility.await().until(() -> !first.hears());
			Listening second = store.listen("c", new Ear());
			store.acquireOrRegister(claim("k", "c"));
			assertThat(second.hears()).isTrue();
		}
	}

	/**
	 * The connections of the listener and of a running statement are among these.
	 * Otherwise a pool that is closed next ends them, and warns with a stack trace.
	 */
	@Test
	void aClosedStoreHasGivenBackItsConnections() {
		ListAppender<ILoggingEvent> log = new ListAppender<>();
		Logger logger = (Logger) LoggerFactory.getLogger("com.zaxxer.hikari");
		log.start();
		logger.addAppender(log);
		String name;
		try (HikariDataSource own = Postgres.pool(Postgres.shared())) {
			name = own.getPoolName();
			JdbcLockBackend store = backend(own);
			Listening listening = store.listen("b", new Ear());
			hold(store, "k", "a");
			store.acquireOrRegister(claim("k", "b"));
			assertThat(listening.hears()).isTrue();
			Runnable unlockTable = Postgres.lockTable(Postgres.shared());
			CompletableFuture<Boolean> release = CompletableFuture.supplyAsync(() -> store.release("k", "a:1"),
					this.threads);
			Awaitility.await()
				.until(() -> this.database.queryForObject("select count(*) from pg_locks where not granted",
						Integer.class) == 1);
			Thread stop = new Thread(() -> {
				store.close();
				own.close();
			});
			stop.start();
			Awaitility.await("the stop to wait for the release, or to end it")
				.until(() -> release.isDone() || Stream.of(stop.getStackTrace())
					.anyMatch((frame) -> frame.getClassName().equals(Connections.class.getName())));
			unlockTable.run();
			assertThat(Patience.get(release, "the release")).isTrue();
			Patience.join(stop);
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> store.inspect("k"))
				.matches(LockBackendException::isStopped);
		}
		finally {
			logger.detachAppender(log);
		}
		// Pools of earlier tests may still write.
		assertThat(log.list).filteredOn((line) -> line.getFormattedMessage().contains(name + " - "))
			.isNotEmpty()
			.extracting(ILoggingEvent::getLevel)
			.doesNotContain(Level.WARN, Level.ERROR);
	}

	@ParameterizedTest
	@ValueSource(strings = { "shop.locks", "released", "held" })
	void theTableMayHaveAnyName(String table) {
		this.database.execute("create schema if not exists shop");
		this.database.execute(Platform.POSTGRESQL.schema(table));
		try (JdbcLockBackend store = new JdbcLockBackend(pool, Patient.SETTINGS.table(table))) {
			store.check();
			DatabaseSettingsTests.exclusive(store, store, "k");
		}
	}

	@Test
	void withoutNotificationsWaitersPoll() {
		JdbcLockSettings settings = Patient.SETTINGS.notifications(false);
		try (JdbcLockBackend store = new JdbcLockBackend(pool, settings)) {
			Listening listening = store.listen("b", new Ear());
			assertReserved(store, () -> {
				hold(store, "k", "a");
				store.acquireOrRegister(claim("k", "b"));
				assertThat(listening.hears()).isFalse();
				store.release("k", "a:1");
			});
		}
	}

	@Test
	void aConnectionToAServerThatHasBecomeReadOnlyIsNotUsedAgain() {
		try (HikariDataSource one = Postgres.pool(Postgres.shared());
				JdbcLockBackend store = new JdbcLockBackend(one, Patient.SETTINGS)) {
			one.setMaximumPoolSize(1);
			JdbcTemplate same = new JdbcTemplate(one);
			Integer before = same.queryForObject("select pg_backend_pid()", Integer.class);
			same.execute("set default_transaction_read_only = on");
			Awaitility.await().ignoreExceptions().until(() -> store.acquire(claim("k", "a")).acquired());
			assertThat(same.queryForObject("select pg_backend_pid()", Integer.class)).isNotEqualTo(before);
		}
	}

	private static Claim claim(String key, String instance) {
		return Claim.of(key, instance + ":1", instance, LEASE);
	}

	private static void hold(JdbcLockBackend store, String key, String instance) {
		assertThat(store.acquire(claim(key, instance)).acquired()).isTrue();
	}

}
