package io.github.distributedlock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend.Renewal;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Locks stay in the database that they were started on, wherever later connections lead.
 */
class DestinationTests {

	private static final Claim CLAIM = Claim.of("k", "a:1", "a", Duration.ofMinutes(10));

	private static final String MARK = "select holders from distributed_lock where lock_key = ' '";

	private final Router router = new Router();

	@Test
	void aConnectionToAnotherDatabaseIsNeverUsed() {
		try (HikariDataSource home = H2.pool();
				HikariDataSource other = H2.pool();
				JdbcLockBackend store = new JdbcLockBackend(this.router, Patient.SETTINGS)) {
			this.router.choose(home);
			store.check();
			this.router.choose(other);
			assertRefused(store);
			assertThat(new JdbcTemplate(other).queryForList("select * from distributed_lock")).isEmpty();
			this.router.choose(home);
			assertThat(store.acquire(CLAIM).acquired()).isTrue();
			this.router.choose(other);
			assertThat(store.renew(List.of(Renewal.of(CLAIM)))).as("by the connection that is kept")
				.containsExactly(true);
		}
	}

	@Test
	void aRefusedConnectionGoesBackAsItWas() throws SQLException {
		try (HikariDataSource home = H2.pool();
				HikariDataSource other = H2.pool();
				Connection refused = other.getConnection();
				JdbcLockBackend store = new JdbcLockBackend(this.router, Patient.SETTINGS)) {
			this.router.choose(home);
			store.check();
			refused.setAutoCommit(false);
			this.router.choose(new SingleConnectionDataSource(refused, true));
			assertRefused(store);
			assertThat(refused.isClosed()).isFalse();
			assertThat(refused.getAutoCommit()).isFalse();
		}
	}

	@Tag("thorough")
	@Test
	void onPostgres() throws SQLException {
		try (Postgres server = new Postgres();
				Postgres second = new Postgres();
				HikariDataSource home = server.pool();
				HikariDataSource replica = second.pool()) {
			JdbcTemplate database = new JdbcTemplate(home);
			database.execute("create database other");
			try (HikariDataSource other = new HikariDataSource()) {
				other.setJdbcUrl(server.server.getJdbcUrl("postgres", "other"));
				staysHome(Platform.POSTGRESQL, home, other, replica);
				followsItsSchema(home);
			}
		}
	}

	@Tag("thorough")
	@Test
	void onMariaDb() {
		try (MariaDb server = new MariaDb();
				MariaDb second = new MariaDb();
				MariaDb third = new MariaDb();
				HikariDataSource home = server.pool("mariadb");
				HikariDataSource other = second.pool("mariadb");
				HikariDataSource replica = third.pool("mysql")) {
			staysHome(Platform.MARIADB, home, other, replica);
		}
	}

	private void staysHome(Platform platform, DataSource home, DataSource other, DataSource replica) {
		List.of(home, other, replica)
			.forEach((each) -> new JdbcTemplate(each).execute(platform.schema("distributed_lock")));
		this.router.choose(home);
		try (JdbcLockBackend store = new JdbcLockBackend(this.router, Patient.SETTINGS);
				JdbcLockBackend stranger = new JdbcLockBackend(other, Patient.SETTINGS)) {
			store.check();
			this.router.choose(other);
			assertRefused(store);
			stranger.check();
			assertRefused(store);
			// A replica that takes over has the same rows.
			String mark = new JdbcTemplate(home).queryForObject(MARK, String.class);
			new JdbcTemplate(replica).update("insert into distributed_lock (lock_key, holders, ends_at,"
					+ " fencing_token, waiters, version, sweep_at) select ' ', ?, timestamp '9999-01-01 00:00:00', 0, '-', 0,"
					+ " timestamp '9999-01-01 00:00:00'", mark);
			this.router.choose(replica);
			assertThat(store.acquire(CLAIM).acquired()).as("after a failover").isTrue();
			// An operator empties the table.
			new JdbcTemplate(home).execute("truncate table distributed_lock");
			this.router.choose(home);
			assertThat(store.acquire(CLAIM).acquired()).as("after it was emptied").isTrue();
		}
	}

	/**
	 * A connection that is shared with the application may have another search path.
	 */
	private void followsItsSchema(HikariDataSource home) throws SQLException {
		try (Connection only = home.getConnection();
				JdbcLockBackend store = new JdbcLockBackend(this.router, Patient.SETTINGS)) {
			this.router.choose(new SingleConnectionDataSource(only, true));
			JdbcTemplate database = new JdbcTemplate(home);
			database.execute("create schema tenant");
			database.execute(Platform.POSTGRESQL.schema("tenant.distributed_lock"));
			Claim claim = Claim.of("schema", "a:1", "a", Duration.ofMinutes(10));
			assertThat(store.acquire(claim).acquired()).isTrue();
			only.setSchema("tenant");
			assertThat(store.acquire(Claim.of("schema", "b:1", "b", Duration.ofMinutes(10))).acquired()).isFalse();
			assertThat(database.queryForList("select * from tenant.distributed_lock")).isEmpty();
		}
	}

	private static void assertRefused(JdbcLockBackend store) {
		LockBackendException refusal = catchThrowableOfType(LockBackendException.class, () -> store.acquire(CLAIM));
		assertThat(refusal).hasMessageContaining("A connection leads to ")
			.hasMessageContaining("but the locks were started on ")
			.hasMessageContaining("distributed-lock.jdbc.data-source");
		assertThat(refusal.isWithoutEffect()).isTrue();
	}

	/**
	 * Chooses a database in a way that no class name shows.
	 */
	private static final class Router extends AbstractDataSource {

		private final AtomicReference<DataSource> chosen = new AtomicReference<>();

		void choose(DataSource next) {
			this.chosen.set(next);
		}

		@Override
		public Connection getConnection() throws SQLException {
			return this.chosen.get().getConnection();
		}

		@Override
		public Connection getConnection(String username, String password) throws SQLException {
			return getConnection();
		}

	}

}
