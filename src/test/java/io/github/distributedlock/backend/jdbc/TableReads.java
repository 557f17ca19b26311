package io.github.distributedlock.backend.jdbc;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.backend.Waiter;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Carries out every step of a store on a large table, and asks the planner of the
 * database before each statement how many rows the statement reads.
 */
final class TableReads extends DelegatingDataSource {

	private static final Duration LEASE = Duration.ofMinutes(10);

	private static final List<Integer> RENEWED = List.of(1, 2, 200);

	/**
	 * The rows that a statement may read besides one row for each key.
	 */
	private static final int SPARE = 20;

	private static final Pattern POSTGRES_READ = Pattern
		.compile("(?: on [^\\n]*actual rows=|Rows Removed by [A-Za-z ]+: )([\\d.]+)(?: loops=(\\d+))?");

	private static final Pattern H2_READ = Pattern.compile("scanCount: (\\d+)()");

	/**
	 * The mark of a store's statements, different in each.
	 */
	private static final Pattern TAG = Pattern.compile("^/\\* lock \\w+ \\*/ ");

	private static final String EPOCH = "timestamp '1970-01-01 00:00:00'";

	private final Platform platform;

	private final JdbcTemplate database;

	/**
	 * The most rows that each statement has read, less one for each key.
	 */
	private final Map<String, Long> reads = new TreeMap<>();

	private TableReads(DataSource pool, Platform platform) {
		super(pool);
		this.platform = platform;
		this.database = new JdbcTemplate(pool);
	}

	static void check(DataSource pool, Platform platform, int rows) throws IllegalAccessException {
		TableReads reads = new TableReads(pool, platform);
		reads.fill(rows);
		try (JdbcLockBackend store = new JdbcLockBackend(reads, Patient.SETTINGS)) {
			reads.carryOut(store);
		}
		reads.reads.forEach((statement, count) -> assertThat(count)
			.as("rows that are read, of %d, besides those of the keys, by: %s", rows, statement)
			.isLessThanOrEqualTo(SPARE));
		reads.checkThatAllWereCarriedOut();
	}

	private void fill(int rows) {
		this.database.execute("drop table if exists distributed_lock");
		this.database.execute(this.platform.schema("distributed_lock"));
		String numbers = switch (this.platform) {
			case POSTGRESQL -> "select g as n from generate_series(1, " + rows + ") g";
			case H2 -> "select x as n from system_range(1, " + rows + ")";
			default -> "select seq as n from seq_1_to_" + rows;
		};
		String key = switch (this.platform) {
			case POSTGRESQL -> "'key-' || n";
			case H2 -> "stringtoutf8('key-' || n)";
			default -> "concat('key-', n)";
		};
		// Held, free, and free after a fenced hold. None is due, though most have ended.
		this.database.execute("insert into distributed_lock"
				+ " (lock_key, holders, ends_at, fencing_token, waiters, version, sweep_at) select " + key
				+ ", 'exclusive held by other:1', "
				+ this.platform.plus(this.platform.now, "(case when mod(n, 4) = 0 then 600000000 else -3600000000 end)")
				+ ", case when mod(n, 4) < 2 then 1 else 0 end, '-', 1, "
				+ this.platform.plus(this.platform.now, "600000000") + " from (" + numbers + ") numbers");
		this.database.execute(switch (this.platform) {
			case POSTGRESQL -> "analyze distributed_lock";
			default -> "analyze table distributed_lock";
		});
	}

	private void carryOut(JdbcLockBackend store) {
		store.check();
		for (String key : List.of("key-1", "key-2", "new")) {
			assertThat(store.acquire(claim(key, "a")).acquired()).as(key).isTrue();
			store.acquire(claim(key, "b"));
			store.acquireOrRegister(claim(key, "b").number(1));
			store.inspect(key);
			store.release(key, "a:1");
			store.withdraw(key, Waiter.exclusive("b"), Set.of());
			store.acquire(claim(key, "c").fenced(true));
			store.pass("c:1", claim(key, "d"), true);
			store.forget(claim(key, "d"));
			store.acquire(claim(key, "e"));
			store.release(key, "e:1");
			store.acquire(claim(key + "-fenced", "a").fenced(true));
			store.acquire(claim(key, "f"));
			store.leaveToExpire(key, "f:1", Duration.ofMillis(1));
		}
		for (int count : RENEWED) {
			List<Claim> claims = IntStream.range(0, count)
				.mapToObj((number) -> claim("renewed-" + number, "a"))
				.toList();
			claims.forEach(store::acquire);
			assertThat(store.renew(claims.stream().map(Renewal::of).toList())).hasSize(count).containsOnly(true);
			store.deleteExpired();
			int due = this.database.update(
					"update distributed_lock set sweep_at = " + EPOCH + " where lock_key in (" + "?, ".repeat(2 * count)
							+ "?)",
					IntStream.rangeClosed(0, 2 * count)
						.mapToObj((number) -> this.platform
							.bind((number < count) ? "renewed-" + number : "key-" + 3 * number))
						.toArray());
			assertThat(due).isGreaterThan(count);
			store.deleteExpired();
			assertThat(this.database.queryForObject("select count(*) from distributed_lock where sweep_at = " + EPOCH,
					Integer.class))
				.as("due")
				.isZero();
		}
	}

	private static Claim claim(String key, String instance) {
		return Claim.of(key, instance + ":1", instance, LEASE);
	}

	/**
	 * Makes sure that no statement is left out.
	 */
	private void checkThatAllWereCarriedOut() throws IllegalAccessException {
		Statements statements = new Statements(this.platform, Patient.SETTINGS);
		for (Field field : Statements.class.getDeclaredFields()) {
			if (!Modifier.isPrivate(field.getModifiers()) && field.get(statements) instanceof String text
					&& text.contains("distributed_lock ")) {
				assertThat(this.reads.keySet()).as(field.getName())
					.anyMatch((read) -> RENEWED.stream()
						.flatMap((count) -> IntStream.rangeClosed(1, 2 * count + 1).boxed())
						.anyMatch((keys) -> read.equals(Statements.of(text, keys))));
			}
		}
	}

	@Override
	public Connection getConnection() throws SQLException {
		Connection connection = super.getConnection();
		return Watched.object(Connection.class, connection,
				(method, arguments) -> method.equals("prepareStatement")
						? explained(connection, connection.prepareStatement((String) arguments[0]),
								TAG.matcher((String) arguments[0]).replaceFirst(""))
						: null);
	}

	private PreparedStatement explained(Connection connection, PreparedStatement statement, String sql) {
		Map<Integer, Object> values = new TreeMap<>();
		return Watched.object(PreparedStatement.class, statement, (method, arguments) -> {
			if (method.equals("setObject")) {
				values.put((Integer) arguments[0], arguments[1]);
			}
			else if (method.startsWith("execute") && sql.contains("distributed_lock ") && !sql.startsWith("show")
					&& !sql.startsWith("explain")) {
				explain(connection, sql, values);
			}
			return null;
		});
	}

	/**
	 * Where the plan is also carried out, the changes are rolled back.
	 */
	private void explain(Connection connection, String sql, Map<Integer, Object> values) throws SQLException {
		boolean estimates = this.platform == Platform.MARIADB;
		if (estimates && sql.startsWith("insert")) {
			this.reads.put(unqualified(sql), 0L);
			return;
		}
		boolean commits = connection.getAutoCommit();
		if (commits) {
			connection.setAutoCommit(false);
		}
		Savepoint before = connection.setSavepoint();
		String explain = switch (this.platform) {
			case POSTGRESQL -> "explain (analyze, timing off) ";
			case H2 -> "explain analyze ";
			default -> "explain ";
		};
		long read = 0;
		StringBuilder plan = new StringBuilder();
		try (PreparedStatement statement = connection.prepareStatement(explain + sql)) {
			for (Map.Entry<Integer, Object> value : values.entrySet()) {
				statement.setObject(value.getKey(), value.getValue());
			}
			try (ResultSet lines = statement.executeQuery()) {
				while (lines.next()) {
					if (estimates) {
						read += lines.getLong("rows");
					}
					else {
						plan.append(lines.getString(1)).append('\n');
					}
				}
			}
		}
		finally {
			connection.rollback(before);
			if (commits) {
				connection.setAutoCommit(true);
			}
		}
		Matcher reads = ((this.platform == Platform.H2) ? H2_READ : POSTGRES_READ).matcher(plan);
		while (reads.find()) {
			int loops = (reads.group(2) == null || reads.group(2).isEmpty()) ? 1 : Integer.parseInt(reads.group(2));
			read += Math.round(Double.parseDouble(reads.group(1)) * loops);
		}
		// A key that is bound is read once to find the row, and once more to change the
		// row.
		long keys = values.values().stream().distinct().count();
		long limit = sql.contains(" order by ") ? Statements.MOST_ROWS : 0;
		this.reads.merge(unqualified(sql), read - 3 * keys - limit, Math::max);
	}

	private static String unqualified(String sql) {
		return sql.replaceAll("\\S+\\.distributed_lock", "distributed_lock");
	}

}
