package io.github.distributedlock.backend.jdbc;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.faults.FaultTest;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TcpRelay;
import org.awaitility.Awaitility;
import org.h2.tools.Server;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Calls of a driver or a pool that do not end by themselves, on H2: its driver ignores
 * the network time-out.
 */
class HangingCallsTests {

	private static final Duration LEASE = Duration.ofMinutes(10);

	private static final Duration TIMEOUT = Duration.ofMillis(500);

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	@TempDir
	private Path directory;

	private static Claim claim(String key, String instance) {
		return Claim.of(key, instance + ":1", instance, LEASE);
	}

	private static JdbcLockBackend impatient(DataSource pool) {
		return new JdbcLockBackend(pool, Patient.SETTINGS.commandTimeout(TIMEOUT));
	}

	private <T> T ends(Callable<T> call) {
		return Patience.get(CompletableFuture.supplyAsync(() -> {
			try {
				return call.call();
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}, this.threads), "the end of the call");
	}

	/**
	 * On a busy machine, a new connection may take longer than the command timeout.
	 */
	private void inTheEnd(Callable<Boolean> call) {
		Awaitility.await().ignoreExceptions().until(() -> ends(call));
	}

	// A network that swallows

	@FaultTest(value = "all connections to the database swallowed by the network", with = "H2 without a pool",
			promise = "replaced before the lease ends, and the lock is kept")
	void swallowedConnectionsAreReplaced() throws SQLException {
		swallow((url) -> new DriverManagerDataSource(url), (store, claim) -> {
			inTheEnd(() -> store.renew(List.of(Renewal.of(claim))).get(0));
			inTheEnd(() -> store.acquire(claim("other", "a")).acquired());
			inTheEnd(() -> store.inspect("k").holders().stream().anyMatch((kept) -> kept.owner().equals("a:1")));
		});
	}

	/**
	 * This pool asks each connection whether it is valid, and waits without end.
	 */
	@FaultTest(value = "all connections to the database swallowed by the network", with = "H2 with Hikari's pool",
			promise = "replaced before the lease ends, and the lock is kept")
	void callsEndThoughThePoolHangsToo() throws SQLException {
		try (HikariDataSource pool = new HikariDataSource()) {
			pool.setMaximumPoolSize(2);
			pool.setMinimumIdle(2);
			swallow((url) -> {
				pool.setJdbcUrl(url);
				return pool;
			}, (store, claim) -> inTheEnd(() -> store.renew(List.of(Renewal.of(claim))).get(0)));
		}
	}

	private interface Check {

		void run(JdbcLockBackend store, Claim claim);

	}

	private void swallow(Function<String, DataSource> dataSource, Check check) throws SQLException {
		Server server = Server.createTcpServer("-tcpPort", "0", "-ifNotExists").start();
		try (TcpRelay relay = new TcpRelay(server.getPort())) {
			DataSource connections = dataSource
				.apply("jdbc:h2:tcp://localhost:" + relay.port() + "/" + this.directory.resolve("locks"));
			new JdbcTemplate(connections).execute(Platform.H2.schema("distributed_lock"));
			try (JdbcLockBackend store = impatient(connections)) {
				inTheEnd(() -> isChecked(store));
				Claim claim = claim("k", "a");
				inTheEnd(() -> store.acquire(claim).acquired());
				relay.swallow();
				check.run(store, claim);
				assertThat(relay.hasSwallowed()).isTrue();
			}
		}
		finally {
			server.stop();
		}
	}

	// A pool without a free connection

	@Test
	void theWaitForAConnectionEndsInTime() throws SQLException {
		try (HikariDataSource pool = H2.pool((config) -> {
			config.setMaximumPoolSize(2);
			config.setConnectionTimeout(Duration.ofHours(1).toMillis());
		}); JdbcLockBackend store = impatient(pool); LockEngine engine = LockEngine.builder(store).build()) {
			inTheEnd(() -> isChecked(store));
			try (Connection last = pool.getConnection()) {
				assertThatThrownBy(
						() -> ends(() -> engine.tryAcquire(LockRequest.of("k").waitTime(Duration.ofMillis(100)))))
					.hasRootCauseMessage("No answer in 500 ms to an attempt to get a connection")
					.rootCause()
					.hasNoCause();
				assertThat(last.isClosed()).isFalse();
			}
			// The connection that came too late is not kept.
			inTheEnd(() -> {
				try (LockHandle handle = engine.acquire(LockRequest.of("k").waitTime(Patience.PATIENCE))) {
					return handle.isHeld();
				}
			});
			Awaitility.await().until(() -> pool.getHikariPoolMXBean().getActiveConnections() == 1);
		}
	}

	@Test
	void aPoolThatIsTooSmallIsRefusedAtTheStart() {
		try (HikariDataSource pool = H2.pool((config) -> config.setMaximumPoolSize(1));
				JdbcLockBackend store = new JdbcLockBackend(pool, Patient.SETTINGS)) {
			assertThatThrownBy(store::check).isInstanceOf(LockBackendException.class)
				.hasMessageContaining("at most 1 connection")
				.hasMessageContaining("at least 2");
		}
	}

	// A pool that never answers

	@Test
	void aPoolThatNeverAnswersKeepsFewThreads() {
		try (SilentPool pool = new SilentPool(); JdbcLockBackend store = store(pool)) {
			pool.silence(true);
			List<Throwable> failures = Stream.generate(() -> catchThrowable(() -> store.acquire(claim("k", "a"))))
				.limit(200)
				.toList();
			// The pause after each probe is twice as long as the one before.
			Awaitility.await().untilAsserted(() -> assertThat(pool.waiting()).isBetween(8, 24));
			assertThat(failures).hasOnlyElementsOfType(LockBackendException.class)
				.anySatisfy(
						(failure) -> assertThat(failure).hasMessageContaining("calls of the pool or the driver hang")
							.hasMessageContaining("see that the database runs and answers"));
			pool.answer();
			Awaitility.await().ignoreExceptions().until(() -> store.acquire(claim("k", "a")).acquired());
			Awaitility.await().until(() -> pool.waiting() == 0);
		}
	}

	/**
	 * Calls that hang already stay so.
	 */
	@Test
	void aPoolThatAnswersAgainIsFoundByAProbe() {
		try (SilentPool pool = new SilentPool(); JdbcLockBackend store = store(pool)) {
			pool.silence(true);
			for (int i = 0; i < 20; i++) {
				assertThatThrownBy(() -> store.acquire(claim("k", "a"))).isInstanceOf(LockBackendException.class);
			}
			// The thread of the last call may begin later.
			Awaitility.await().until(() -> pool.waiting() >= 8);
			pool.silence(false);
			Awaitility.await().ignoreExceptions().until(() -> store.acquire(claim("k", "a")).acquired());
			assertThat(pool.waiting()).isGreaterThanOrEqualTo(8);
			pool.silence(true);
			assertThat(catchThrowable(() -> store.inspect("k"))).isInstanceOf(LockBackendException.class);
			pool.silence(false);
			// On a busy machine, one of these calls may take longer than 100 ms.
			assertThat(Stream.generate(() -> catchThrowable(() -> store.inspect("k"))).limit(20))
				.noneMatch((failure) -> String.valueOf(failure).contains("calls of the pool or the driver hang"));
		}
	}

	private static JdbcLockBackend store(DataSource pool) {
		JdbcLockBackend store = new JdbcLockBackend(pool,
				JdbcLockSettings.defaults().commandTimeout(Duration.ofMillis(100)));
		Awaitility.await().ignoreExceptions().until(() -> isChecked(store));
		return store;
	}

	private static boolean isChecked(JdbcLockBackend store) {
		store.check();
		return true;
	}

	/**
	 * A pool that waits without end for a connection, as some do by default.
	 */
	private static final class SilentPool extends DelegatingDataSource implements AutoCloseable {

		private final HikariDataSource pool;

		private final CountDownLatch answers = new CountDownLatch(1);

		private final AtomicInteger waiting = new AtomicInteger();

		private volatile boolean silent;

		SilentPool() {
			this.pool = H2.pool();
			setTargetDataSource(this.pool);
		}

		@Override
		public Connection getConnection() throws SQLException {
			if (this.silent) {
				this.waiting.incrementAndGet();
				try {
					Patience.await(this.answers, "the end of the silence");
				}
				finally {
					this.waiting.decrementAndGet();
				}
			}
			return super.getConnection();
		}

		void silence(boolean silent) {
			this.silent = silent;
		}

		int waiting() {
			return this.waiting.get();
		}

		void answer() {
			silence(false);
			this.answers.countDown();
		}

		@Override
		public void close() {
			answer();
			this.pool.close();
		}

	}

	// A statement that hangs

	/**
	 * On a busy machine, the cancellation may come too late for the caller.
	 */
	@Test
	void aStatementThatHangsIsCancelledAndItsConnectionUsedAgain() {
		try (HikariDataSource pool = H2.pool((config) -> config.setMaximumPoolSize(1));
				Connections connections = new Connections(pool,
						Patient.SETTINGS.commandTimeout(TIMEOUT.multipliedBy(6)))) {
			Awaitility.await().ignoreExceptions().untilAsserted(() -> {
				Integer session = session(pool);
				assertThatThrownBy(() -> ends(() -> connections.run("count",
						(same) -> same.execute("select count(*) from system_range(1, 1e18) where mod(x, 7) = 8"))))
					.rootCause()
					.isInstanceOfSatisfying(SQLException.class,
							(failure) -> assertThat(SqlFailures.isCancelled(failure)).isTrue());
				assertThat(session(pool)).isEqualTo(session);
			});
		}
	}

	@Test
	void aConnectionGoesBackThoughNoThreadCanBeHad() {
		try (HikariDataSource pool = H2.pool(); Connections connections = new Connections(pool, Patient.SETTINGS)) {
			try (Connections.Borrowed borrowed = connections.borrow()) {
				assertThat(borrowed.<Integer>stay("read", (session) -> 1)).isEqualTo(1);
				connections.close();
			}
			assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
			assertThatThrownBy(connections::borrow).hasMessageContaining("The store is closed");
		}
	}

	private static Integer session(DataSource pool) {
		return new JdbcTemplate(pool).queryForObject("select session_id()", Integer.class);
	}

	// Broken connections

	@Test
	void aConnectionThatIsBrokenIsNotLentAgain() {
		AtomicBoolean readOnly = new AtomicBoolean();
		try (HikariDataSource server = H2.pool()) {
			HikariConfig config = new HikariConfig();
			config.setDataSource(refusing(server, readOnly));
			config.setMaximumPoolSize(1);
			try (HikariDataSource pool = new HikariDataSource(config);
					JdbcLockBackend store = new JdbcLockBackend(pool, Patient.SETTINGS)) {
				store.acquire(claim("k", "a"));
				Integer session = session(pool);
				readOnly.set(true);
				assertThatThrownBy(() -> store.release("k", "a:1")).isInstanceOf(LockBackendException.class);
				readOnly.set(false);
				assertThat(session(pool)).isNotEqualTo(session);
				assertThat(store.release("k", "a:1")).isTrue();
			}
		}
	}

	@Test
	void renewalsReplaceAConnectionThatIsBroken() {
		AtomicBoolean readOnly = new AtomicBoolean();
		try (HikariDataSource server = H2.pool()) {
			HikariConfig config = new HikariConfig();
			config.setDataSource(refusing(server, readOnly));
			try (HikariDataSource pool = new HikariDataSource(config);
					JdbcLockBackend store = new JdbcLockBackend(pool, Patient.SETTINGS)) {
				Claim claim = claim("k", "a");
				store.acquire(claim);
				store.renew(List.of(Renewal.of(claim)));
				readOnly.set(true);
				assertThatThrownBy(() -> store.renew(List.of(Renewal.of(claim))))
					.isInstanceOf(LockBackendException.class);
				readOnly.set(false);
				assertThat(store.renew(List.of(Renewal.of(claim)))).containsExactly(true);
			}
		}
	}

	/**
	 * Returns connections that refuse to write for as long as they are told to.
	 */
	private static DataSource refusing(HikariDataSource server, AtomicBoolean readOnly) {
		return Watched.connections(new DriverManagerDataSource(server.getJdbcUrl()), (method, arguments) -> {
			if (readOnly.get() && method.equals("prepareStatement")) {
				throw new SQLException("The database is read-only", "90097", 90097);
			}
		});
	}

}
