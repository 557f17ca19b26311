package com.example.locks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLIntegrityConstraintViolationException;
import java.time.Duration;

import javax.sql.DataSource;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.KeyState;
import io.github.distributedlock.backend.OptimisticLockBackend;

/**
 * Locks in a table of H2 that can do all that locks can do: shared, fair and fenced ones,
 * and permits.
 */
public class TableLocks extends OptimisticLockBackend {

	private static final String NOW = "cast(extract(epoch from current_timestamp) * 1000000 as bigint)";

	private static final long NO_ROW = -1;

	private final DataSource database;

	public TableLocks(DataSource database) {
		super(Duration.ofMillis(500), Duration.ofMillis(1500));
		this.database = database;
		run("create table if not exists locks(id varchar primary key, holders varchar, ends bigint, waiters varchar,"
				+ " token bigint, version bigint)", PreparedStatement::execute);
	}

	@Override
	protected Read read(String key) {
		return run(
				"select holders, ends, waiters, token, version, " + NOW + " from (select 1) left join locks on id = ?",
				(statement) -> {
					ResultSet row = statement.executeQuery();
					row.next();
					return (row.getString(1) == null) ? new Read(KeyState.FREE, row.getLong(6), NO_ROW)
							: new Read(KeyState.of(row.getString(1), row.getLong(2), row.getString(3), row.getLong(4)),
									row.getLong(6), row.getLong(5));
				}, key);
	}

	@Override
	protected boolean write(String key, Read before, KeyState after) {
		long version = (Long) before.version();
		boolean isNew = version == NO_ROW;
		return run(isNew ? "insert into locks(holders, ends, waiters, token, version, id) values (?, ?, ?, ?, ?, ?)"
				: "update locks set holders = ?, ends = ?, waiters = ?, token = ?, version = ? where id = ? and version = "
						+ version,
				(statement) -> {
					try {
						return statement.executeUpdate() == 1;
					}
					catch (SQLIntegrityConstraintViolationException ex) {
						return false; // Another one has inserted the row.
					}
				}, after.holders(), after.end(), after.waiters(), after.fencingToken(), version + 1, key);
	}

	private interface Use<T> {

		T of(PreparedStatement statement) throws SQLException;

	}

	private <T> T run(String sql, Use<T> use, Object... values) {
		try (Connection connection = this.database.getConnection();
				PreparedStatement statement = connection.prepareStatement(sql)) {
			for (int i = 0; i < values.length; i++) {
				statement.setObject(i + 1, values[i]);
			}
			return use.of(statement);
		}
		catch (SQLException ex) {
			throw LockBackendException.of("The table of locks failed").cause(ex).build();
		}
	}

}
