package io.github.distributedlock.backend.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

/**
 * A server of PostgreSQL, as safe as an installed one is.
 */
final class Postgres implements AutoCloseable {

	final EmbeddedPostgres server;

	Postgres() {
		try {
			this.server = EmbeddedPostgres.builder().setServerConfig("fsync", "on").start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	HikariDataSource pool() {
		HikariConfig config = new HikariConfig();
		config.setDataSource(this.server.getPostgresDatabase());
		config.setMaximumPoolSize(60);
		config.setMinimumIdle(1);
		return new HikariDataSource(config);
	}

	@Override
	public void close() {
		try {
			this.server.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
