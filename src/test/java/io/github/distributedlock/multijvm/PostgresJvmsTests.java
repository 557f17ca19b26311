package io.github.distributedlock.multijvm;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.jdbc.JdbcLockBackend;
import io.github.distributedlock.backend.jdbc.Postgres;
import org.junit.jupiter.api.Tag;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * JVMs share a lock in a table of PostgreSQL.
 */
@Tag("thorough")
class PostgresJvmsTests extends JvmsContract {

	private final HikariDataSource pool = new HikariDataSource();

	private JdbcLockBackend backend;

	@Override
	LockBackend open() {
		this.backend = Visitor.database(this.pool, url());
		JdbcTemplate database = new JdbcTemplate(this.pool);
		database.execute("drop table if exists " + Visitor.TABLE);
		try {
			database.execute(new ClassPathResource("schema-postgresql.sql", JdbcLockBackend.class)
				.getContentAsString(StandardCharsets.UTF_8)
				.replace("distributed_lock", Visitor.TABLE));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return this.backend;
	}

	@Override
	String[] store(int jvm) {
		return new String[] { url() };
	}

	private static String url() {
		return Postgres.shared().getJdbcUrl("postgres", "postgres");
	}

	@Override
	void closeStore() {
		this.backend.close();
		this.pool.close();
	}

}
