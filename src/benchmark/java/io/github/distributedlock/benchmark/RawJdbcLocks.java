package io.github.distributedlock.benchmark;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.OptionalLong;
import java.util.concurrent.atomic.LongAdder;

import com.zaxxer.hikari.HikariDataSource;

/**
 * What most write by hand in PostgreSQL: two statements.
 */
final class RawJdbcLocks implements Locks {

	static final String TABLE = "create table raw_lock (lock_key varchar(255) primary key, owner varchar(255) not null,"
			+ " ends_at timestamptz not null)";

	private static final String LOCK = "insert into raw_lock (lock_key, owner, ends_at)"
			+ " values (?, ?, clock_timestamp() + interval '" + Spinning.LEASE_MILLIS + " milliseconds')"
			+ " on conflict (lock_key) do update set owner = excluded.owner, ends_at = excluded.ends_at"
			+ " where raw_lock.ends_at <= clock_timestamp()";

	private static final String UNLOCK = "update raw_lock set ends_at = clock_timestamp()"
			+ " where lock_key = ? and owner = ? and ends_at > clock_timestamp()";

	private final HikariDataSource pool;

	private final LongAdder attempts = new LongAdder();

	RawJdbcLocks(int port) {
		this.pool = Connections.postgres(port);
	}

	@Override
	public Mutex mutex(String key) {
		return new Spinning(this.attempts) {

			@Override
			boolean tryLock(String owner) {
				return changes(LOCK, key, owner);
			}

			@Override
			void unlock(String owner) {
				changes(UNLOCK, key, owner);
			}

		};
	}

	private boolean changes(String statement, String key, String owner) {
		try (Connection connection = this.pool.getConnection();
				PreparedStatement prepared = connection.prepareStatement(statement)) {
			prepared.setString(1, key);
			prepared.setString(2, owner);
			return prepared.executeUpdate() > 0;
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public OptionalLong attempts() {
		return OptionalLong.of(this.attempts.sum());
	}

	@Override
	public void close() {
		this.pool.close();
	}

}
