package com.example.locks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.time.Duration;
import java.util.List;

import javax.sql.DataSource;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;

/**
 * Locks in a table of H2: what a store is in an afternoon.
 */
public class JdbcLocks implements LockBackend {

	private static final String END = "dateadd(millisecond, cast(? as bigint), current_timestamp)";

	private static final String OWNED = " where id = ? and owner = ? and ends > current_timestamp";

	private final DataSource database;

	public JdbcLocks(DataSource database) {
		this.database = database;
		update("create table if not exists locks(id varchar primary key, owner varchar, ends timestamp(9) with time zone)");
	}

	@Override
	public AcquireResult acquire(Claim claim) {
		long lease = claim.lease().toMillis();
		boolean acquired = update(
				"insert into locks select ?, ?, " + END + " where not exists (select 1 from locks where id = ?)",
				claim.key(), claim.owner(), lease, claim.key())
				|| update(
						"update locks set ends = greatest(" + END
								+ ", case owner when ? then ends else current_timestamp end), owner = ?"
								+ " where id = ? and (owner = ? or ends <= current_timestamp)",
						lease, claim.owner(), claim.owner(), claim.key(), claim.owner());
		return acquired ? AcquireResult.ACQUIRED : AcquireResult.BUSY;
	}

	@Override
	public List<Boolean> renew(List<Renewal> renewals) {
		return renewals.stream()
			.map((renewal) -> update("update locks set ends = greatest(ends, " + END + ")" + OWNED,
					renewal.lease().toMillis(), renewal.key(), renewal.owner()))
			.toList();
	}

	@Override
	public boolean release(String key, String owner) {
		return update("delete from locks" + OWNED, key, owner);
	}

	@Override
	public boolean leaveToExpire(String key, String owner, Duration rest) {
		return update("update locks set owner = null, ends = " + END + OWNED, rest.toMillis(), key, owner);
	}

	/**
	 * Carries out a statement that changes at most one row.
	 * @return whether it has changed one
	 */
	private boolean update(String sql, Object... values) {
		try (Connection connection = this.database.getConnection();
				PreparedStatement statement = connection.prepareStatement(sql)) {
			connection.setAutoCommit(true); // Each step counts at once, whatever the pool
											// is told.
			for (int i = 0; i < values.length; i++) {
				statement.setObject(i + 1, values[i]);
			}
			return statement.executeUpdate() == 1;
		}
		catch (SQLIntegrityConstraintViolationException ex) {
			return false; // Another has inserted the key meanwhile.
		}
		catch (SQLException ex) {
			throw LockBackendException.of("The database could not keep the locks").retryable(true).cause(ex).build();
		}
	}

}
