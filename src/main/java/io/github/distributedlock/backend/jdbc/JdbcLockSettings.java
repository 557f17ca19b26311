package io.github.distributedlock.backend.jdbc;

import java.time.Duration;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * The settings of a {@link JdbcLockBackend}. Immutable.
 *
 * @param table the table of the locks, with the schema if wanted: letters, digits and
 * underscores, {@code distributed_lock} by default
 * @param commandTimeout how long a statement waits for an answer at most, 2 s by default.
 * After three quarters of that time the statement is cancelled at the server, and after
 * all of that time the connection is closed. A request waits for a connection of the pool
 * just as long
 * @param notifications whether waiters are notified where the database can notify, which
 * keeps a connection; {@code true} by default. Otherwise waiters poll
 * @param retention how long the row of a released key is kept, 10 minutes by default
 * @param fencedRetention how long the row of a released key is kept if the key ever gave
 * a fencing token, a day by default. A later token is greater all the same, unless the
 * clock of the database was set back by more than that
 * @since 1.0
 */
public record JdbcLockSettings(String table, Duration commandTimeout, boolean notifications, Duration retention,
		Duration fencedRetention) {

	private static final Pattern NAME = Pattern.compile("([A-Za-z_][A-Za-z0-9_]*\\.)?[A-Za-z_][A-Za-z0-9_]*");

	private static final Duration LONGEST_TIMEOUT = Duration.ofMinutes(10);

	/**
	 * Checks that each setting is in its range.
	 */
	public JdbcLockSettings {
		if (!NAME.matcher(table).matches()) {
			throw new IllegalArgumentException("The table '" + table
					+ "' is not a name of letters, digits and underscores, with or without a schema before it");
		}
		require("command timeout", commandTimeout, Duration.ofMillis(1), LONGEST_TIMEOUT);
		require("retention", retention, Duration.ofMinutes(1), Duration.ofDays(365));
		require("fenced retention", fencedRetention, retention, Duration.ofDays(3650));
	}

	private static void require(String name, Duration value, Duration least, Duration most) {
		Objects.requireNonNull(value, name);
		if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
			throw new IllegalArgumentException(
					"The " + name + " of " + value + " is not between " + least + " and " + most);
		}
	}

	/**
	 * Returns the default settings.
	 * @return the defaults
	 */
	public static JdbcLockSettings defaults() {
		return new JdbcLockSettings("distributed_lock", Duration.ofSeconds(2), true, Duration.ofMinutes(10),
				Duration.ofDays(1));
	}

	/**
	 * Keeps the locks in another table.
	 * @param table the name of the table, with the schema if wanted
	 * @return the settings with that table
	 */
	public JdbcLockSettings table(String table) {
		return new JdbcLockSettings(table, this.commandTimeout, this.notifications, this.retention,
				this.fencedRetention);
	}

	/**
	 * Sets how long a statement waits for an answer at most.
	 * @param commandTimeout the time, from 1 ms to 10 minutes
	 * @return the settings with that time
	 */
	public JdbcLockSettings commandTimeout(Duration commandTimeout) {
		return new JdbcLockSettings(this.table, commandTimeout, this.notifications, this.retention,
				this.fencedRetention);
	}

	/**
	 * Sets whether waiters are notified.
	 * @param notifications {@code false} to poll on every database
	 * @return the settings with that choice
	 */
	public JdbcLockSettings notifications(boolean notifications) {
		return new JdbcLockSettings(this.table, this.commandTimeout, notifications, this.retention,
				this.fencedRetention);
	}

	/**
	 * Sets how long the rows of released keys are kept.
	 * @param retention the time, from 1 minute to a year
	 * @param fencedRetention the time for keys that gave a fencing token, from
	 * {@code retention} to ten years
	 * @return the settings with these times
	 */
	public JdbcLockSettings retention(Duration retention, Duration fencedRetention) {
		return new JdbcLockSettings(this.table, this.commandTimeout, this.notifications, retention, fencedRetention);
	}

}
