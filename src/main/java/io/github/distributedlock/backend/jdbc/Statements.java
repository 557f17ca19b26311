package io.github.distributedlock.backend.jdbc;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.UUID;

import io.github.distributedlock.backend.KeyState;
import org.jspecify.annotations.Nullable;

/**
 * The statements of a table. Each statement is one step by itself: the statement compares
 * before it changes a row, and counts up the version of the row, so that every driver
 * counts the row as changed.
 * <p>
 * Each statement finds its rows by an index, however large the table is. MariaDB uses no
 * index for a single pair of columns, so the keys of pairs are also compared by
 * themselves.
 */
final class Statements {

	/**
	 * The most rows that one statement reads.
	 */
	static final int MOST_ROWS = 500;

	/**
	 * The key of the row that marks the table. No lock has a blank key.
	 */
	static final String MARK = " ";

	/**
	 * The text for no holder or no waiter.
	 */
	static final String NOBODY = KeyState.FREE.holders();

	private static final String COLUMNS = "holders, ends_at, waiters, fencing_token, version, sweep_at, lock_key";

	/**
	 * Commits without waiting for the disk. A change that gives nobody the key may get
	 * lost if the server crashes: then the key stays with the last owner until the end of
	 * the lease. The change is on the disk before any later change.
	 */
	private static final String QUICKLY = "set_config('synchronous_commit', 'off', true)";

	/**
	 * Commits to the disk, even where the server or the user of the database has chosen
	 * not to. Any other choice, such as to wait for a standby, stays, and costs the
	 * statement no change of the setting.
	 */
	private static final String DURABLY = "case when current_setting('synchronous_commit') = 'off'"
			+ " then set_config('synchronous_commit', 'on', true) end";

	private static final String OWNED = " holders = ? and ends_at > {now}";

	/**
	 * The condition on the row of a key that is free for anybody, as far as SQL can tell
	 * without parsing the texts.
	 */
	private static final String FREE = " ({held}waiters = {nobody} and ({held}holders = {nobody}"
			+ " or ({held}ends_at <= {now} and ({held}holders like 'exclusive held by %'"
			+ " or {held}holders like 'exclusive expiring by %'))))";

	/**
	 * The age of a claim from which on the key is not granted to its waiter: the silence
	 * of {@code Rows} less its pulse.
	 */
	static final Duration LONGEST_BID = Duration.ofMillis(1250);

	/**
	 * Frees a key that nobody waits for, without waiting for the disk; or grants the key
	 * to the oldest waiter if that waiter has claimed the key alone, and lately.
	 * {@code KeyStep} has the same rules. One statement leaves no gap for a registration.
	 */
	private static final String RELEASE_OR_GRANT = "update {table} set"
			+ " holders = case when waiters = {nobody} then {nobody}"
			+ " else 'exclusive held by ' || substring(waiters from ' of ([^ ]+) for ') end,"
			+ " ends_at = {now} + case when waiters = {nobody} then interval '0'"
			+ " else substring(waiters from ' for ([0-9]+) ms')::bigint * interval '1 ms' end,"
			+ " waiters = case when waiters = {nobody} or substring(waiters from '; (.*)') like 'last heard %'"
			+ " then {nobody} else substring(waiters from '; (.*)') end, version = version + 1"
			+ " where lock_key = ? and" + OWNED + " and (waiters = {nobody} or (waiters ~"
			+ " '^exclusive [^ ]+ since [^ ]+ heard [^ ]+ claim [0-9]+ of [^ ]+ for [0-9]+ ms made [^ ;]+;'"
			+ " and {now} - substring(waiters from ' made ([^ ;]+);')::timestamp between interval '0' and interval '"
			+ (LONGEST_BID.toNanos() / 1_000 - 1) + " microseconds'))"
			+ " returning holders as given, case when holders = {nobody} then " + QUICKLY + " else " + DURABLY + " end";

	final Platform platform;

	final String table;

	/**
	 * Takes a free key that has a row.
	 */
	final String take;

	/**
	 * Takes a free key that may have no row yet; {@code null} where this would need two
	 * statements.
	 */
	final @Nullable String insertOrTake;

	/**
	 * Frees a key that nobody waits for.
	 */
	final String release;

	/**
	 * Frees a key, or grants the key to the oldest waiter; {@code null} where this would
	 * need two statements.
	 */
	final @Nullable String releaseOrGrant;

	final String leaveToExpire;

	final String renew;

	/**
	 * Reads the rows of several keys.
	 */
	final String readAll;

	final String read;

	final String insert;

	/**
	 * Writes a state that {@linkplain KeyState#gives gives} somebody something.
	 */
	final String give;

	/**
	 * Writes any other state.
	 */
	final String change;

	/**
	 * Notifies an instance, on PostgreSQL.
	 */
	final String notify;

	/**
	 * Reads the rows that are due for a sweep: for each, whether the row is to be
	 * deleted, and whether the key is free.
	 */
	final String readDue;

	final String deleteExpired;

	/**
	 * Makes rows due again at the time at which they are to be deleted.
	 */
	final String postpone;

	/**
	 * Reads the place that a connection leads to, as one text of the database, the server
	 * and the mark.
	 */
	final String place;

	private final JdbcLockSettings settings;

	/**
	 * The schema of the table with a dot, empty if the connection determines the schema.
	 */
	private final String qualifier;

	Statements(Platform platform, JdbcLockSettings settings) {
		this(platform, settings, "");
	}

	private Statements(Platform platform, JdbcLockSettings settings, String qualifier) {
		this.platform = platform;
		this.settings = settings;
		this.table = settings.table();
		this.qualifier = qualifier;
		boolean upserts = platform == Platform.POSTGRESQL;
		String durably = upserts ? " returning " + DURABLY : "";
		String later = platform.plus("{now}", "?");
		String time = platform.plus("timestamp '1970-01-01 00:00:00'", "?");
		this.take = text("update {table} set holders = ?, ends_at = " + later
				+ ", version = version + 1 where lock_key = ? and" + FREE.replace("{held}", "") + durably);
		this.insertOrTake = !upserts ? null
				: text("insert into {table} as held (" + COLUMNS + ") select ?, " + later + ", {nobody}, 0, "
						+ platform.micros("{now}") + ", " + platform.plus("{now}", String.valueOf(keptFor(0)))
						// The row of a busy key is not locked, since a lock would cost a
						// commit.
						+ ", ? where not exists (select 1 from {table} as held where lock_key = ? and not" + FREE
						+ ") on conflict (lock_key) do update set holders = excluded.holders,"
						+ " ends_at = excluded.ends_at, version = held.version + 1 where" + FREE + durably);
		String columns = "holders, " + platform.micros("ends_at") + ", waiters, fencing_token, version, "
				+ platform.micros("{now}");
		String row = "select " + columns + " from (select 1 as one) always left join {table} on lock_key = ?";
		this.read = text(row);
		this.release = text("update {table} set holders = {nobody}, ends_at = {now}, version = version + 1"
				+ " where lock_key = ? and waiters = {nobody} and" + OWNED + (upserts ? " returning " + QUICKLY : ""));
		// No table may have that name.
		this.releaseOrGrant = !upserts ? null
				: text("with released$ as (" + RELEASE_OR_GRANT + ") select " + columns
						+ ", (select given from released$), substring(waiters from ' of ([^ ]+) for '),"
						+ " substring(waiters from ' claim ([0-9]+) of ')"
						+ " from (select 1 as one) always left join {table} on lock_key = ?");
		this.leaveToExpire = text("update {table} set holders = ?, ends_at = " + later
				+ ", version = version + 1 where lock_key = ? and" + OWNED + durably);
		// A limit is enough for sql_safe_updates where a small table is read whole.
		String all = (upserts || platform == Platform.H2) ? "" : " {limit}";
		this.renew = text("update {table} set ends_at = greatest(ends_at, " + later
				+ "), version = version + 1 where lock_key in ({keys}) and (lock_key, holders) in ({pairs})"
				+ " and ends_at > {now}" + all + durably);
		this.readAll = text("select " + columns + ", lock_key from {table} where lock_key in ({keys}) {limit}");
		this.insert = text(platform.insert + " into {table} (" + COLUMNS + ") values (?, " + time + ", ?, ?, ?, " + time
				+ ", ?)" + (upserts ? " on conflict do nothing" : "") + durably);
		String change = text("update {table} set holders = ?, ends_at = " + time
				+ ", waiters = ?, fencing_token = ?, version = version + 1 where version = ? and lock_key = ?");
		this.give = change + durably;
		this.change = change + (upserts ? " returning " + QUICKLY : "");
		this.notify = "select pg_notify(?, ?), " + QUICKLY;
		this.readDue = text("select lock_key, version, ends_at < " + platform.plus("{once}", "-" + keptFor(0))
				+ " and (fencing_token = 0 or ends_at < " + platform.plus("{once}", "-" + keptFor(1))
				+ "), ends_at <= {once} from {table}"
				// The order makes planners use the index, even if they believe that most
				// rows are due.
				+ " where sweep_at < {once} order by sweep_at {limit}");
		this.deleteExpired = text(
				"delete from {table} where lock_key in ({keys}) and (lock_key, version) in ({pairs})" + all);
		this.postpone = text("update {table} set sweep_at = case when fencing_token = 0 then "
				+ platform.plus("ends_at", String.valueOf(keptFor(0))) + " else "
				+ platform.plus("ends_at", String.valueOf(keptFor(1))) + " end where lock_key in ({keys})" + all);
		this.place = text(platform.place()
			.replace("{mark}", "coalesce((select holders from {table} where lock_key = '" + MARK + "'), {nobody})"));
	}

	static long micros(Duration time) {
		return time.toNanos() / 1_000;
	}

	/**
	 * Returns for how long the row of a released key is kept, in microseconds.
	 * @param fencingToken the last fencing token of the key, 0 if there was none
	 */
	long keptFor(long fencingToken) {
		return micros((fencingToken == 0) ? this.settings.retention() : this.settings.fencedRetention());
	}

	/**
	 * Completes a statement on several keys.
	 */
	static String of(String statement, int keys) {
		return statement.replace("{keys}", String.join(", ", Collections.nCopies(keys, "?")))
			.replace("{pairs}", String.join(", ", Collections.nCopies(keys, "(?, ?)")));
	}

	/**
	 * Returns the same statements for the table of one schema, whatever schema a
	 * connection that is shared with the application has later.
	 * @param schema the schema, quoted; {@code null} if the schema is not known
	 */
	Statements in(@Nullable String schema) {
		return (schema == null) ? this : new Statements(this.platform, this.settings, schema + ".");
	}

	/**
	 * Returns a query for the schema of the table, quoted; {@code null} if the table is
	 * named with its schema.
	 */
	@Nullable String schema() {
		String query = this.platform.schema();
		return (query == null || this.table.contains(".")) ? null : text(query);
	}

	/**
	 * Returns the channel of PostgreSQL on which an instance is notified.
	 */
	static String channel(String table, String instance) {
		byte[] name = (table + " " + instance).getBytes(StandardCharsets.UTF_8);
		return "distributed_lock_" + UUID.nameUUIDFromBytes(name).toString().replace("-", "");
	}

	// No name of a table has braces.
	String text(String template) {
		boolean postgres = this.platform == Platform.POSTGRESQL;
		return template.replace("{held}", postgres ? "held." : "")
			// PostgreSQL would read its clock for each row, and use no index.
			.replace("{once}", postgres ? "(select {now})" : "{now}")
			.replace("{table}", this.qualifier + this.table)
			.replace("{nobody}", "'" + NOBODY + "'")
			.replace("{limit}", this.platform.limit.formatted(MOST_ROWS))
			.replace("{now}", this.platform.now);
	}

}
