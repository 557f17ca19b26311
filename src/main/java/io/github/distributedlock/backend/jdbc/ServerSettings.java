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
 * Settings of a server that break a promise of the locks. A start names each such
 * setting, what follows from it, and the statement that mends it.
 */
final class ServerSettings {

	private static final Logger logger = LoggerFactory.getLogger(ServerSettings.class);

	private static final String FORGETS = "locks that were acquired shortly before the server or its machine crashes are"
			+ " lost, and two owners may hold one key afterwards";

	private static final String CORRUPTS = "the table of the locks may be damaged when the machine of the server crashes";

	private static final List<Setting> SETTINGS = List.of(warned(Platform.POSTGRESQL, "fsync", "show fsync", Set
		.of("on"), FORGETS, "alter system set fsync = on, and reload"), warned(Platform.POSTGRESQL, "full_page_writes",
				"show full_page_writes", Set.of("on"), CORRUPTS,
				"alter system set full_page_writes = on, and reload, unless the file system writes pages atomically"),
			warned(Platform.MYSQL, "innodb_flush_log_at_trx_commit", "select @@global.innodb_flush_log_at_trx_commit",
					Set.of("1", "3"), FORGETS, "set global innodb_flush_log_at_trx_commit = 1"));

	private ServerSettings() {
	}

	/**
	 * A setting.
	 *
	 * @param platform where the setting exists. A setting of MySQL is one of MariaDB, too
	 * @param name what the server calls the setting
	 * @param query reads the value
	 * @param harmless the values, in lower case, that are harmless
	 * @param refused whether the application does not start. Otherwise a warning is
	 * logged
	 * @param consequence what another value leads to
	 * @param remedy what to do
	 */
	record Setting(Platform platform, String name, String query, Set<String> harmless, boolean refused,
			String consequence, String remedy) {

		private boolean isOf(Platform platform) {
			return platform == this.platform || (platform == Platform.MARIADB && this.platform == Platform.MYSQL);
		}

		private void check(@Nullable String value) {
			if (value == null || this.harmless.contains(value.toLowerCase(Locale.ROOT))) {
				return;
			}
			LockBackendException problem = LockBackendException
				.of("The setting " + this.name + " of the database is " + value + ": " + this.consequence)
				.remedy(this.remedy)
				.notCarriedOut(true)
				.build();
			if (this.refused) {
				throw problem;
			}
			logger.warn("{}", problem.getMessage());
		}

	}

	private static Setting warned(Platform platform, String name, String query, Set<String> harmless,
			String consequence, String remedy) {
		return new Setting(platform, name, query, harmless, false, consequence, remedy);
	}

	/**
	 * Reads the settings of a server. One that this server or user cannot read is
	 * skipped.
	 * @throws LockBackendException if a setting makes locks impossible
	 */
	static void check(Session session) throws SQLException {
		for (Setting setting : SETTINGS) {
			if (setting.isOf(session.sql().platform)) {
				try {
					setting.check(session.value(setting.query()));
				}
				catch (SQLException ex) {
					if (SqlFailures.isOfConnection(ex)) {
						throw ex;
					}
					logger.debug("The setting {} cannot be read", setting.name(), ex);
				}
			}
		}
	}

}
