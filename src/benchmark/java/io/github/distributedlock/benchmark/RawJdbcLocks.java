package io.github.distributedlock.benchmark;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.OptionalLong;
import java.util.concurrent.atomic.LongAdder;

import com.zaxxer.hikari.HikariDataSource;

/**
 * The lock that most people write by hand in a database: two statements.
 */
final class RawJdbcLocks implements Locks {

	static final String TABLE = "create table raw_lock (lock_key varchar(255) primary key, owner varchar(255) not null,"
			+ " ends_at %s not null)";

	private static final String LOCK = "insert into raw_lock (lock_key, owner, ends_at)"
			+ " values (?, ?, clock_timestamp() + interval '" + Spinning.LEASE_MILLIS + " milliseconds')"
			+ " on conflict (lock_key) do update set owner = excluded.owner, ends_at = excluded.ends_at"
			+ " where raw_lock.ends_at <= clock_timestamp()";

	private static final String UNLOCK = "update raw_lock set ends_at = clock_timestamp()"
			+ " where lock_key = ? and owner = ? and ends_at > clock_timestamp()";

	private static final String LOCK_ON_MARIADB = "insert into raw_lock (lock_key, owner, ends_at)"
			+ " values (?, ?, now(6) + interval " + Spinning.LEASE_MILLIS + "000 microsecond) on duplicate key update"
			+ " owner = if(ends_at <= now(6), values(owner), owner),"
			+ " ends_at = if(owner = values(owner), values(ends_at), ends_at)";

	private final HikariDataSource pool;

	private final String lock;

	private final String unlock;

	private final LongAdder attempts = new LongAdder();

	private RawJdbcLocks(HikariDataSource pool, String lock, String unlock) {
		this.pool = pool;
		this.lock = lock;
		this.unlock = unlock;
	}

	static RawJdbcLocks onPostgres(int port) {
		return new RawJdbcLocks(Connections.postgres(port), LOCK, UNLOCK);
	}

	static RawJdbcLocks onMariaDb(int port) {
		return new RawJdbcLocks(Connections.mariaDb(port), LOCK_ON_MARIADB,
				UNLOCK.replace("clock_timestamp()", "now(6)"));
	}

	@Override
	public Mutex mutex(String key) {
		return new Spinning(this.attempts) {

			@Override
			boolean tryLock(String owner) {
				return changes(RawJdbcLocks.this.lock, key, owner);
			}

			@Override
			void unlock(String owner) {
				changes(RawJdbcLocks.this.unlock, key, owner);
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
