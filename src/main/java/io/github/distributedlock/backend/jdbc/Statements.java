package io.github.distributedlock.backend.jdbc;

import java.util.List;
import java.util.stream.Stream;

/**
 * The statements of a table. Each is one step by itself: it compares what it found before
 * it changes a row, and counts up its version, so that each change is one for every
 * driver.
 */
final class Statements {

	/**
	 * Most rows that are read at once.
	 */
	static final int MOST_ROWS = 500;

	private static final String COLUMNS = "owner, state, ends_at, fencing_token, waiters, version, lock_key";

	/**
	 * Commits without waiting for the disk. A change that gives nobody the key may get
	 * lost with the server: then it stays with its last owner until the end of the lease.
	 * It is on the disk before any change that is made after it.
	 */
	private static final String QUICKLY = "set_config('synchronous_commit', 'off', true)";

	private static final String OWNED = " owner = ? and state = 'OWNER' and ends_at > {now}";

	private static final String TAKE = " owner = ?, state = 'OWNER', ends_at = greatest({held}ends_at, {now} + ?), version = {held}version + 1";

	private static final String IF_FREE_OR_OWN = " ({held}ends_at <= {now} or ({held}owner = ? and {held}state = 'OWNER'))";

	final Platform platform;

	final String table;

	final String acquire;

	final String release;

	final String leaveToExpire;

	final String renew;

	final String readRenewed;

	final String read;

	final String insert;

	/**
	 * Gives the key to another owner, or for longer.
	 */
	final String give;

	/**
	 * Changes something else.
	 */
	final String change;

	/**
	 * Notifies, where the platform can do that.
	 */
	final String notify;

	final String readExpired;

	final String deleteExpired;

	Statements(Platform platform, String table) {
		this.platform = platform;
		this.table = table;
		boolean upserts = platform == Platform.POSTGRESQL;
		this.acquire = text(upserts
				? "insert into {table} as held (" + COLUMNS + ") select ?, 'OWNER', {now} + ?, 0, {nobody}, {now}, ?"
				// One that is busy is not locked, which would cost a commit.
						+ " where not exists (select 1 from {table} as held where lock_key = ? and not" + IF_FREE_OR_OWN
						+ ") on conflict (lock_key) do update set" + TAKE + " where" + IF_FREE_OR_OWN
				: "update {table} set" + TAKE + " where lock_key = ? and" + IF_FREE_OR_OWN);
		String row = "select owner, state, ends_at, fencing_token, waiters, version, {now}"
				+ " from (select 1 as one) always left join {table} on lock_key = ?";
		this.read = text(row);
		String release = "update {table} set ends_at = {now}, version = version + 1 where lock_key = ? and waiters = {nobody} and"
				+ OWNED;
		// No table may have that name.
		this.release = text(upserts ? "with released$ as (" + release + " returning " + QUICKLY + ") " + row
				+ " where not exists (select 1 from released$)" : release);
		this.leaveToExpire = text(
				"update {table} set state = 'EXPIRING', ends_at = {now} + ?, version = version + 1 where lock_key = ? and"
						+ OWNED);
		String renewed = " where (lock_key, owner) in ({pairs}) and state = 'OWNER' and ends_at > {now}";
		this.renew = text("update {table} set ends_at = greatest(ends_at, {now} + ?), version = version + 1" + renewed);
		this.readRenewed = text("select lock_key, owner from {table}" + renewed + " {limit}");
		this.insert = text(platform.insert + " into {table} (" + COLUMNS + ") values (?, ?, ?, ?, ?, ?, ?)"
				+ (upserts ? " on conflict do nothing" : ""));
		this.give = text("update {table} set owner = ?, state = ?, ends_at = ?, fencing_token = ?, waiters = ?,"
				+ " version = version + 1 where version = ? and lock_key = ?");
		this.change = this.give + (upserts ? " returning " + QUICKLY : "");
		this.notify = "select pg_notify(?, ?), " + QUICKLY;
		this.readExpired = text("select lock_key, version from {table} where ends_at < {now} - ?"
				+ " and (fencing_token = 0 or ends_at < {now} - ?) {limit}");
		this.deleteExpired = text("delete from {table} where (lock_key, version) in ({pairs})");
	}

	/**
	 * Returns statements that need each right and each column, and change nothing. Each
	 * has a key as its parameter, since {@code sql_safe_updates} refuses one without.
	 */
	List<String> probes() {
		String none = " where lock_key = ? and version = " + Row.ABSENT;
		return Stream
			.of("select " + COLUMNS + " from {table}",
					"insert into {table} (" + COLUMNS + ") select " + COLUMNS + " from {table}",
					"update {table} set version = version + 1", "delete from {table}")
			.map((probe) -> text(probe + none))
			.toList();
	}

	// No name of a table has braces.
	private String text(String template) {
		return template.replace("{held}", (this.platform == Platform.POSTGRESQL) ? "held." : "")
			.replace("{table}", this.table)
			.replace("{nobody}", "'" + Row.NOBODY + "'")
			.replace("{limit}", this.platform.limit.formatted(MOST_ROWS))
			.replace("{now}", this.platform.now);
	}

}
