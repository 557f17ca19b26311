package io.github.distributedlock.autoconfigure;

import java.util.Locale;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import com.zaxxer.hikari.util.Credentials;
import io.github.distributedlock.autoconfigure.DistributedLockProperties.Jdbc;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.jdbc.JdbcLockBackend;
import io.github.distributedlock.backend.jdbc.JdbcLockSettings;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.jdbc.DatabaseDriver;
import org.springframework.boot.jdbc.EmbeddedDatabaseConnection;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

import static io.github.distributedlock.autoconfigure.DistributedLockProperties.checked;

/**
 * Finds the application's DataSource and keeps the locks in its database. The locks have
 * connections of their own where possible: then no transaction of the application waits
 * for a connection that a lock has, and no lock for a connection that a transaction has.
 */
final class JdbcStore implements EngineLifecycle.StorePool, DisposableBean {

	private static final Logger logger = LoggerFactory.getLogger(JdbcStore.class);

	private static final int SMALLEST_POOL = 3;

	private final LockBackend backend;

	/**
	 * The pool of the locks, {@code null} if the locks use connections of the
	 * application.
	 */
	private final @Nullable AutoCloseable pool;

	JdbcStore(DistributedLockProperties properties, ListableBeanFactory beanFactory) {
		Jdbc jdbc = properties.jdbc();
		JdbcLockSettings some = JdbcLockSettings.defaults().notifications(jdbc.notifications());
		JdbcLockSettings named = checked("jdbc.table", jdbc.table(), some::table);
		JdbcLockSettings settings = checked("jdbc.command-timeout", jdbc.commandTimeout(),
				(timeout) -> Stores.timeout("jdbc", timeout, properties.watchdogTimeout(), named::commandTimeout));
		DataSource dataSource = DataSourceLayers.withoutTransactions(dataSource(jdbc, beanFactory));
		int size = checked("jdbc.pool-size", jdbc.poolSize(), JdbcStore::requireEnough);
		DataSource own = (size != 0 && ClassUtils.isPresent("com.zaxxer.hikari.HikariDataSource", null))
				? Pool.of(dataSource, size, settings) : null;
		this.pool = (AutoCloseable) own;
		this.backend = new JdbcLockBackend((own != null) ? own : dataSource, settings);
	}

	static DataSource dataSource(Jdbc jdbc, ListableBeanFactory beanFactory) {
		DataSource found = Stores.bean(DataSource.class, "distributed-lock.jdbc.data-source", jdbc.dataSource(),
				beanFactory,
				"Locks are kept in a database (distributed-lock.backend=jdbc), but the application has no DataSource"
						+ " bean.",
				"Set spring.datasource.url, so that Spring Boot defines one, or define a DataSource bean"
						+ " yourself.");
		if (DataSourceLayers.isSingleConnection(found)) {
			throw Stores.refusal(
					"The DataSource of the application has one connection for all threads, so that a lock would be"
							+ " part of whatever transaction uses the connection",
					"use a pool, or a DriverManagerDataSource, and name it by distributed-lock.jdbc.data-source");
		}
		if (!StringUtils.hasText(jdbc.dataSource())) {
			DataSourceLayers.router(found).ifPresent((router) -> {
				throw Stores.refusal(
						"The DataSource of the application leads to several databases (" + router
								+ "): each renewal of a lock, on a thread of its own, could be in another one",
						"define a DataSource that leads to one, and name it by distributed-lock.jdbc.data-source");
			});
		}
		return found;
	}

	private static int requireEnough(int size) {
		if (size < 0 || (size > 0 && size < SMALLEST_POOL)) {
			throw new IllegalArgumentException("the pool needs at least " + SMALLEST_POOL
					+ " connections: for renewals, for notifications and for a lock. 0 means that the locks use the connections of the DataSource");
		}
		return size;
	}

	LockBackend backend() {
		return this.backend;
	}

	@Override
	public void disconnect() {
		if (this.pool != null) {
			Pool.keepIdle(this.pool, 0);
		}
	}

	@Override
	public void connect() {
		if (this.pool != null) {
			Pool.keepIdle(this.pool, Pool.IDLE);
		}
	}

	@Override
	public void destroy() throws Exception {
		if (this.pool != null) {
			this.pool.close();
		}
	}

	/**
	 * A class of its own, since an application may have a pool of another kind, and no
	 * Hikari.
	 */
	private static final class Pool {

		/**
		 * The timeout of H2's driver, which otherwise waits without end.
		 */
		private static final String H2_TIMEOUT = "NETWORK_TIMEOUT";

		private static final int IDLE = 1;

		/**
		 * Sets how many idle connections the pool keeps open. With zero, the pool also
		 * closes its idle connections now.
		 */
		static void keepIdle(Object pool, int connections) {
			HikariDataSource hikari = (HikariDataSource) pool;
			hikari.setMinimumIdle(connections);
			HikariPoolMXBean running = hikari.getHikariPoolMXBean();
			if (connections == 0 && running != null) {
				running.softEvictConnections();
			}
		}

		/**
		 * Lets PostgreSQL end the session of a JVM that has died while its statement
		 * waits for a lock. Older servers do not have the setting, and Windows refuses
		 * the setting.
		 */
		private static final String NOTICE_CLOSED = "select set_config(name, '1000', false) from pg_settings"
				+ " where name = 'client_connection_check_interval' and version() ~* 'linux|darwin|apple|bsd|illumos'";

		/**
		 * Returns an unopened pool with the same connection details, or {@code null}. An
		 * embedded database may be another one for each pool, and a subclass of the pool
		 * may make connections in its own way, so neither gets a second pool.
		 */
		static @Nullable HikariDataSource of(DataSource dataSource, int size, JdbcLockSettings settings) {
			if (dataSource.getClass() != HikariDataSource.class) {
				return null;
			}
			HikariDataSource known = (HikariDataSource) dataSource;
			String url = known.getJdbcUrl();
			if (EmbeddedDatabaseConnection.isEmbedded(DatabaseDriver.fromJdbcUrl(url).getDriverClassName(), url)) {
				logger.warn(
						"Locks are kept in a database in the memory of this JVM ({}), so that no other JVM sees them."
								+ " Set spring.datasource.url to a database that all JVMs share, unless this is a test",
						url);
				return null;
			}
			HikariDataSource pool = new Own(known);
			known.copyStateTo(pool);
			pool.setPoolName("distributed-lock");
			pool.setMaximumPoolSize(size);
			pool.setMinimumIdle(IDLE);
			pool.setAutoCommit(true);
			pool.setReadOnly(false);
			pool.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
			// Less than a caller waits, so that the caller learns what the server has
			// said.
			pool.setConnectionTimeout(Math.max(250, settings.commandTimeout().toMillis() * 3 / 4));
			// Several dead connections are replaced within one command timeout.
			pool.setValidationTimeout(250);
			if (url != null && url.startsWith("jdbc:h2:") && !url.toUpperCase(Locale.ROOT).contains(";" + H2_TIMEOUT)) {
				// In the URL, since a copied pool has the very properties of the other
				// pool.
				pool.setJdbcUrl(url + ";" + H2_TIMEOUT + "=" + settings.commandTimeout().toMillis());
			}
			if (url != null && url.startsWith("jdbc:postgresql:") && known.getConnectionInitSql() == null) {
				pool.setConnectionInitSql(NOTICE_CLOSED);
			}
			// A database that is down must not prevent the start, and a listening
			// connection is no leak.
			pool.setInitializationFailTimeout(-1);
			pool.setLeakDetectionThreshold(0);
			return pool;
		}

		/**
		 * Opens each connection with the credentials that the application's pool has at
		 * that moment, since passwords are changed while an application runs.
		 */
		private static final class Own extends HikariDataSource {

			private final HikariDataSource known;

			Own(HikariDataSource known) {
				this.known = known;
			}

			@Override
			public Credentials getCredentials() {
				return this.known.getCredentials();
			}

		}

	}

}
