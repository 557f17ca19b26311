package io.github.distributedlock.backend.jdbc;

import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import io.github.distributedlock.LockBackendException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Settings of a server that break a promise of the locks. At the start, the log or a
 * failure names each such setting, the consequence, and the statement that mends the
 * setting.
 */
final class ServerSettings {

	private static final Logger logger = LoggerFactory.getLogger(ServerSettings.class);

	private static final String FORGETS = "locks that were acquired shortly before the server or its machine crashes may"
			+ " be lost, and two owners may hold one key afterwards";

	private static final String UNLESS_MANAGED = ", unless the storage of a managed server is durable by itself";

	private static final String UNLESS_ATOMIC = ", unless the file system or the storage of a managed server writes pages"
			+ " atomically";

	private static final String CORRUPTS = "the table of the locks may be damaged when the machine of the server crashes";

	private static final String FORGETS_AT_FAILOVER = "locks that were acquired shortly before a failover are lost, and two"
			+ " owners may hold one key afterwards";

	private static final List<Setting> SETTINGS = List.of(
			warned(Platform.POSTGRESQL, "fsync", "show fsync", Set.of("on"), FORGETS,
					"alter system set fsync = on, and reload" + UNLESS_MANAGED),
			warned(Platform.POSTGRESQL, "full_page_writes", "show full_page_writes", Set.of("on"), CORRUPTS,
					"alter system set full_page_writes = on, and reload" + UNLESS_ATOMIC),
			warned(Platform.POSTGRESQL, "synchronous_commit",
					"select setting from pg_settings where name = 'synchronous_commit'"
							+ " and current_setting('synchronous_standby_names') <> ''",
					Set.of("on", "off", "remote_apply", "remote_write"), FORGETS_AT_FAILOVER,
					"set synchronous_commit = on for the user of the application"),
			warned(Platform.MYSQL, "innodb_flush_log_at_trx_commit", "select @@global.innodb_flush_log_at_trx_commit",
					Set.of("1", "3"), FORGETS, "set global innodb_flush_log_at_trx_commit = 1"),
			warned(Platform.MYSQL, "innodb_flush_method", "select @@global.innodb_flush_method",
					Set.of("fsync", "o_dsync", "o_direct", "o_direct_no_fsync", "unbuffered", "async_unbuffered"),
					FORGETS, "innodb_flush_method = O_DIRECT in the configuration of the server"),
			// With a binary log, a recovery undoes changes that are missing in the log.
			warned(Platform.MYSQL, "sync_binlog", "select if(@@global.log_bin, @@global.sync_binlog, 1)", Set.of("1"),
					FORGETS, "set global sync_binlog = 1"),
			warned(Platform.MYSQL, "innodb_doublewrite", "select @@global.innodb_doublewrite",
					Set.of("1", "on", "fast", "detect_and_recover"), CORRUPTS,
					"innodb_doublewrite = ON in the configuration of the server" + UNLESS_ATOMIC),
			new Setting(Platform.H2, "WRITE_DELAY",
					"select max(cast(SETTING_VALUE as int)) from INFORMATION_SCHEMA.SETTINGS"
							+ " where SETTING_NAME = 'WRITE_DELAY'",
					Set.of("0"),
					"locks that were acquired within that many milliseconds before the JVM that serves the file is"
							+ " killed are lost, and two owners may hold one key afterwards",
					"run, as an administrator: set write_delay 0; and leave WRITE_DELAY out of the URL",
					"set write_delay 0"));

	private ServerSettings() {
	}

	/**
	 * A setting.
	 *
	 * @param platform where the setting exists. A setting of MySQL is one of MariaDB, too
	 * @param name the server's name of the setting
	 * @param query reads the value
	 * @param harmless the values, in lower case, that are harmless
	 * @param consequence the consequence of another value
	 * @param remedy what the operator has to do
	 * @param mend the statement that makes the setting harmless, if the user of the
	 * application may run it. Then locks are refused if the statement fails. Without such
	 * a statement, a warning is logged
	 */
	record Setting(Platform platform, String name, String query, Set<String> harmless, String consequence,
			String remedy, @Nullable String mend) {

		private boolean isOf(Platform platform) {
			return platform == this.platform || (platform == Platform.MARIADB && this.platform == Platform.MYSQL);
		}

		private boolean isHarmless(@Nullable String value) {
			return value == null || this.harmless.contains(value.toLowerCase(Locale.ROOT));
		}

		private LockBackendException problem(@Nullable String value, @Nullable Throwable cause) {
			return LockBackendException
				.of("The setting " + this.name + " of the database is " + value + ": " + this.consequence)
				.remedy(this.remedy)
				.withoutEffect(true)
				.cause(cause)
				.build();
		}

	}

	private static Setting warned(Platform platform, String name, String query, Set<String> harmless,
			String consequence, String remedy) {
		return new Setting(platform, name, query, harmless, consequence, remedy, null);
	}

	/**
	 * Checks the settings of a server, and changes the settings that the user of the
	 * application may change.
	 * @throws LockBackendException if a setting makes locks impossible
	 * @throws SQLException if the connection fails
	 */
	static void check(Session session) throws SQLException {
		for (Setting setting : SETTINGS) {
			if (setting.isOf(session.sql().platform)) {
				check(setting, session);
			}
		}
	}

	/**
	 * Checks a setting, unless this server or user cannot read the setting.
	 */
	static void check(Setting setting, Session session) throws SQLException {
		String value = null;
		try {
			value = session.value(setting.query());
			String mend = setting.mend();
			if (setting.isHarmless(value)) {
				return;
			}
			if (mend == null) {
				logger.warn("A setting of the database endangers locks: {}", setting.problem(value, null).getMessage());
				return;
			}
			session.execute(mend);
			logger.info("Ran '{}' for the locks: {} of the database was {}", mend, setting.name(), value);
		}
		catch (SQLException ex) {
			if (SqlFailures.isOfConnection(ex)) {
				throw ex;
			}
			if (value != null) {
				throw setting.problem(value, ex);
			}
			logger.debug("The setting {} cannot be read", setting.name(), ex);
		}
	}

}
