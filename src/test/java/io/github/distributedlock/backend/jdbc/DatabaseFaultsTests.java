package io.github.distributedlock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.faults.FaultTest;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.ProcessSignals;
import io.github.distributedlock.fixtures.TcpRelay;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The effect of locks on a database that hangs or refuses, and on other users of that
 * database.
 */
@Tag("faults")
class DatabaseFaultsTests {

	private static final Duration LEASE = Duration.ofMinutes(10);

	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	private static final int STORES = 4;

	private static final int POOL = 6;

	/**
	 * MariaDB gives the same answer again to those who ask for waiting statements within
	 * 100 ms.
	 */
	private static final Duration MARIA_DB_KEEPS_ITS_ANSWER = Duration.ofMillis(250);

	/** Sessions of a store beside the pool: three that may hang, and one that cancels. */
	private static final int BESIDES = 4;

	private static Postgres postgres;

	private static MariaDb mariaDb;

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	@BeforeAll
	static void start() {
		postgres = new Postgres();
	}

	@AfterAll
	static void stop() {
		postgres.close();
		if (mariaDb != null) {
			mariaDb.close();
		}
	}

	/**
	 * A server with a driver, and how an operator sees and stops the statements.
	 */
	private enum Server {

		POSTGRESQL(Platform.POSTGRESQL, "select count(*) from pg_stat_activity where backend_type = 'client backend'",
				"select count(*) from pg_locks where not granted",
				"select count(*) from pg_stat_activity where state = 'active' and query like '/* lock%'"),

		MARIADB(Platform.MARIADB, "select count(*) from information_schema.processlist where user <> 'system user'",
				"select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'",
				"select count(*) from information_schema.processlist where info like '/* lock%'"),

		MARIADB_BY_MYSQL(Platform.MARIADB, MARIADB.sessions, MARIADB.waiting, MARIADB.running);

		private final Platform platform;

		private final String sessions;

		private final String waiting;

		private final String running;

		Server(Platform platform, String sessions, String waiting, String running) {
			this.platform = platform;
			this.sessions = sessions;
			this.waiting = waiting;
			this.running = running;
		}

		int port() {
			if (this == POSTGRESQL) {
				return postgres.server.getPort();
			}
			if (mariaDb == null) {
				mariaDb = new MariaDb(); // Aborts the test if there is no such server.
			}
			return mariaDb.port();
		}

		@Override
		public String toString() {
			return switch (this) {
				case POSTGRESQL -> "PostgreSQL";
				case MARIADB -> "MariaDB";
				case MARIADB_BY_MYSQL -> "MariaDB by MySQL's driver";
			};
		}

		HikariConfig pool(int port) {
			HikariConfig config = new HikariConfig();
			config.setJdbcUrl(switch (this) {
				case POSTGRESQL -> postgres.server.getJdbcUrl("postgres", "postgres")
					.replace(":" + postgres.server.getPort() + "/", ":" + port + "/");
				case MARIADB -> "jdbc:mariadb://localhost:" + port + "/locks";
				case MARIADB_BY_MYSQL -> "jdbc:mysql://localhost:" + port + "/locks";
			});
			if (this != POSTGRESQL) {
				config.setUsername("root");
			}
			config.setMaximumPoolSize(POOL);
			config.setMinimumIdle(1);
			config.setConnectionTimeout(TIMEOUT.toMillis());
			config.setValidationTimeout(250);
			config.setInitializationFailTimeout(-1);
			return config;
		}

		JdbcTemplate admin() {
			return new JdbcTemplate(patient());
		}

		HikariDataSource patient() {
			HikariConfig config = pool(port());
			config.setMaximumPoolSize(1);
			config.setConnectionTimeout(Patience.COMMAND.toMillis());
			return new HikariDataSource(config);
		}

	}

	private static void createTable(JdbcTemplate admin, Server server) {
		admin.execute("drop table if exists distributed_lock");
		admin.execute(server.platform.schema("distributed_lock"));
	}

	private static Claim claim(String key, String instance) {
		return Claim.of(key, instance + ":1", instance, LEASE);
	}

	private static JdbcLockBackend backend(DataSource connections) {
		return new JdbcLockBackend(connections, JdbcLockSettings.defaults().commandTimeout(TIMEOUT));
	}

	private static void check(JdbcLockBackend store) {
		Awaitility.await().ignoreExceptions().until(() -> {
			store.check();
			return true;
		});
	}

	private static void hold(JdbcLockBackend store, String key) {
		Awaitility.await().ignoreExceptions().until(() -> store.acquire(claim(key, "a")).acquired());
	}

	/**
	 * Waits until the store says that a key is held still.
	 */
	private static void awaitHeld(JdbcLockBackend store, Claim claim) {
		Awaitility.await()
			.ignoreExceptions()
			.until(() -> store.renew(List.of(Renewal.of(claim))).equals(List.of(true)));
	}

	/**
	 * Others can still connect: the server has no more sessions than the pools allow.
	 */
	@FaultTest(value = "table locked by an operator",
			promise = "sessions are at most those of the pools and four for each store; the locks are kept")
	void aLockedTableTakesNoMoreSessionsThanThePoolsHave(Server server) throws SQLException {
		JdbcTemplate admin = server.admin();
		List<HikariDataSource> pools = new ArrayList<>();
		List<JdbcLockBackend> stores = new ArrayList<>();
		try (HikariDataSource own = (HikariDataSource) admin.getDataSource();
				HikariDataSource operators = server.patient()) {
			createTable(admin, server);
			AtomicInteger failures = new AtomicInteger();
			AtomicBoolean over = new AtomicBoolean();
			List<CompletableFuture<Void>> requests = new ArrayList<>();
			for (int i = 0; i < STORES; i++) {
				pools.add(new HikariDataSource(server.pool(server.port())));
				JdbcLockBackend store = backend(pools.get(i));
				stores.add(store);
				check(store);
			}
			try (Connection operator = operators.getConnection()) {
				operator.setAutoCommit(false);
				try (Statement statement = operator.createStatement()) {
					for (int i = 0; i < STORES; i++) {
						hold(stores.get(i), "k" + i);
					}
					statement
						.execute((server == Server.POSTGRESQL) ? "lock table distributed_lock in access exclusive mode"
								: "select * from distributed_lock for update");
				}
				for (int i = 0; i < STORES; i++) {
					JdbcLockBackend store = stores.get(i);
					String key = "k" + i;
					requests.add(CompletableFuture.runAsync(
							() -> fail(() -> store.renew(List.of(Renewal.of(claim(key, "a")))), over, failures),
							this.threads));
					for (int thread = 1; thread < POOL; thread++) {
						requests.add(CompletableFuture
							.runAsync(() -> fail(() -> store.release(key, "another"), over, failures), this.threads));
					}
				}
				int most = 0;
				while (failures.get() < STORES * POOL * 5) {
					most = Math.max(most, admin.queryForObject(server.sessions, Integer.class));
				}
				over.set(true);
				// Besides: the two sessions of this test.
				assertThat(most).isLessThanOrEqualTo(STORES * (POOL + BESIDES) + 2);
				operator.rollback();
			}
			Patience.get(CompletableFuture.allOf(requests.toArray(CompletableFuture[]::new)), "the requests");
			for (int i = 0; i < STORES; i++) {
				awaitHeld(stores.get(i), claim("k" + i, "a"));
			}
		}
		finally {
			stores.forEach(JdbcLockBackend::close);
			pools.forEach(HikariDataSource::close);
		}
	}

	private static void fail(Runnable request, AtomicBoolean over, AtomicInteger failures) {
		while (!over.get()) {
			if (fails(request)) {
				failures.incrementAndGet();
			}
		}
	}

	/**
	 * Whatever hangs: these sessions can neither be cancelled nor ended.
	 */
	@FaultTest(value = "table locked by an operator, sessions that wait for it frozen", with = "PostgreSQL",
			promise = "sessions are at most those of the pool and four; the lock is kept")
	void sessionsThatAreFrozenTakeNoFurtherOnes() throws SQLException {
		freezeSessions(Server.POSTGRESQL.pool(Server.POSTGRESQL.port()));
	}

	/**
	 * On a busy machine, the time of the driver may be over before the store has
	 * cancelled the statement.
	 */
	@Test
	void frozenSessionsThatTheDriverGivesUpFirstTakeNoFurtherOnes() throws SQLException {
		freezeSessions(impatient(Server.POSTGRESQL));
	}

	private void freezeSessions(HikariConfig config) throws SQLException {
		JdbcTemplate admin = Server.POSTGRESQL.admin();
		try (HikariDataSource own = (HikariDataSource) admin.getDataSource();
				HikariDataSource operators = Server.POSTGRESQL.patient();
				HikariDataSource pool = new HikariDataSource(config);
				JdbcLockBackend store = backend(pool)) {
			createTable(admin, Server.POSTGRESQL);
			check(store);
			hold(store, "k");
			Set<Long> frozen = new HashSet<>();
			AtomicInteger failures = new AtomicInteger();
			AtomicBoolean over = new AtomicBoolean();
			int most = 0;
			try (Connection operator = operators.getConnection(); Statement statement = operator.createStatement()) {
				operator.setAutoCommit(false);
				statement.execute("lock table distributed_lock in access exclusive mode");
				CompletableFuture<Void> requests = CompletableFuture
					.runAsync(() -> fail(() -> store.release("k", "another"), over, failures), this.threads);
				try {
					while (failures.get() < 20) {
						admin
							.queryForList("select pid from pg_stat_activity where wait_event_type = 'Lock'", Long.class)
							.stream()
							.filter(frozen::add)
							.forEach(ProcessSignals::pause);
						most = Math.max(most, admin.queryForObject(Server.POSTGRESQL.sessions, Integer.class));
					}
				}
				finally {
					over.set(true);
					frozen.forEach(ProcessSignals::resume);
					operator.rollback();
				}
				Patience.get(requests, "the requests");
			}
			assertThat(frozen).isNotEmpty();
			assertThat(most).isLessThanOrEqualTo(POOL + BESIDES);
			// A release whose answer got lost could not be repeated.
			awaitHeld(store, claim("k", "a"));
		}
	}

	/**
	 * A pool whose driver waits half as long for the server as it says.
	 */
	private static HikariConfig impatient(Server server) {
		HikariConfig config = server.pool(server.port());
		DataSource driver = new DriverManagerDataSource(config.getJdbcUrl(), config.getUsername(), null);
		config.setJdbcUrl(null);
		config.setDataSource(Watched.connections(driver, (connection, method, arguments) -> {
			if (method.equals("setNetworkTimeout")) {
				arguments[1] = (int) arguments[1] / 2;
			}
			return method.equals("getNetworkTimeout") ? (Object) (2 * connection.getNetworkTimeout()) : null;
		}));
		return config;
	}

	@FaultTest(value = "all connections to the database swallowed by the network",
			promise = "replaced before the lease ends, and the lock is kept")
	void swallowedConnectionsAreReplacedBeforeALeaseEnds(Server server) {
		JdbcTemplate admin = server.admin();
		try (HikariDataSource own = (HikariDataSource) admin.getDataSource();
				TcpRelay relay = new TcpRelay(server.port());
				HikariDataSource pool = new HikariDataSource(server.pool(relay.port()));
				JdbcLockBackend store = backend(pool)) {
			createTable(admin, server);
			check(store);
			Claim claim = claim("k", "a");
			hold(store, "k");
			relay.swallow();
			awaitHeld(store, claim);
			assertThat(relay.hasSwallowed()).isTrue();
			Awaitility.await().ignoreExceptions().until(() -> store.acquire(claim("other", "a")).acquired());
			awaitHeld(store, claim);
		}
	}

	/**
	 * An operator keeps the row, and the server does not notice that the client of a
	 * waiting statement is gone.
	 */
	@FaultTest(value = "statement cut off while it waits for a row, and its claim forgotten",
			promise = "it is not carried out later, and the key stays free")
	void aStatementThatIsCutOffIsWithoutEffectOnceItsClaimIsForgotten(Server server) throws SQLException {
		JdbcTemplate admin = server.admin();
		try (HikariDataSource own = (HikariDataSource) admin.getDataSource();
				HikariDataSource operators = server.patient();
				TcpRelay relay = new TcpRelay(server.port());
				HikariDataSource pool = new HikariDataSource(server.pool(relay.port()));
				JdbcLockBackend store = new JdbcLockBackend(pool,
						JdbcLockSettings.defaults().commandTimeout(Patience.COMMAND))) {
			pool.setConnectionTimeout(Patience.COMMAND.toMillis());
			createTable(admin, server);
			check(store);
			Claim claim = claim("k", "a");
			hold(store, "k");
			store.release("k", "a:1");
			try (Connection operator = operators.getConnection(); Statement statement = operator.createStatement()) {
				operator.setAutoCommit(false);
				statement.execute("select * from distributed_lock for update");
				AtomicBoolean cut = new AtomicBoolean();
				CompletableFuture<Boolean> fails = CompletableFuture.supplyAsync(() -> {
					boolean failed;
					do { // A request that gets no connection fails, and is made again.
						failed = fails(() -> store.acquire(claim));
					}
					while (failed && !cut.get());
					return failed;
				}, this.threads);
				Awaitility.with()
					.pollInterval(MARIA_DB_KEEPS_ITS_ANSWER)
					.await()
					.failFast("The request has not waited for the row", fails::isDone)
					.until(() -> admin.queryForObject(server.waiting, Integer.class) > 0);
				cut.set(true);
				relay.cut();
				assertThat(Patience.get(fails, "the end of the request")).isTrue();
				Awaitility.await().ignoreExceptions().until(() -> {
					store.forget(claim);
					return true;
				});
				operator.rollback();
			}
			Awaitility.await().until(() -> admin.queryForObject(server.running, Integer.class) == 0);
			assertThat(store.inspect("k").isFree()).isTrue();
		}
	}

	/**
	 * The application shares a pool with the locks, and only reads.
	 */
	@FaultTest(value = "database becomes read-only, its pool shared with the application",
			with = { "POSTGRESQL", "MARIADB" },
			promise = "each attempt to acquire fails, each read of the application succeeds")
	void readsOfTheApplicationGoOnThoughTheServerBecomesReadOnly(Server server) throws SQLException {
		JdbcTemplate admin = server.admin();
		try (HikariDataSource own = (HikariDataSource) admin.getDataSource();
				HikariDataSource pool = new HikariDataSource(readCommitted(server));
				JdbcLockBackend store = new JdbcLockBackend(pool, Patient.SETTINGS)) {
			createTable(admin, server);
			check(store);
			hold(store, "k");
			readOnly(admin, server, true);
			pool.getHikariPoolMXBean().softEvictConnections();
			JdbcTemplate application = new JdbcTemplate(pool);
			for (int i = 0; i < 60; i++) {
				String key = "k" + i;
				assertThat(fails(() -> store.acquire(claim(key, "a")))).isTrue();
				assertThat(application.queryForObject("select 1", Integer.class)).isOne();
			}
			readOnly(admin, server, false);
			pool.getHikariPoolMXBean().softEvictConnections();
			Awaitility.await().ignoreExceptions().until(() -> store.release("k", "a:1"));
		}
	}

	// With another isolation the pool would notice that the isolation cannot be set back.
	private static HikariConfig readCommitted(Server server) {
		HikariConfig config = server.pool(server.port());
		config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
		config.setConnectionTimeout(Patience.COMMAND.toMillis());
		return config;
	}

	private static boolean fails(Runnable request) {
		try {
			request.run();
			return false;
		}
		catch (LockBackendException ex) {
			return true;
		}
	}

	private static void readOnly(JdbcTemplate admin, Server server, boolean readOnly) {
		if (server == Server.POSTGRESQL) {
			admin.execute("alter system set default_transaction_read_only = " + (readOnly ? "on" : "off"));
			admin.queryForList("select pg_reload_conf()");
			Awaitility.await()
				.until(() -> (readOnly ? "on" : "off")
					.equals(admin.queryForObject("show default_transaction_read_only", String.class)));
		}
		else {
			admin.execute("set global tx_read_only = " + (readOnly ? "on" : "off"));
		}
	}

}
