package io.github.distributedlock.backend.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.KeyState;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.backend.OptimisticLockBackend;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Holds the statements of PostgreSQL that are a step by themselves against
 * {@link KeyState} at random: each step begins with another state, runs on a real server
 * and in memory at the same time, and afterwards the answers, the notifications and what
 * is kept are the same. The number of steps and the random numbers are those of
 * {@code -Dlock.random.steps} and {@code -Dlock.random.seed}.
 */
class KeyStateInPostgresTests {

	private static final int STEPS = Integer.getInteger("lock.random.steps", 100_000) / 10;

	private static final String TABLE = "random_steps";

	private static final JdbcLockSettings SETTINGS = Patient.SETTINGS.table(TABLE);

	/**
	 * The events that each kind of step must have met in a run of any length.
	 */
	private static final List<String> MET = List.of("acquire done in one statement", "acquire refused in several",
			"leaveToExpire done in one statement", "release done in one statement", "release done in several",
			"release granted in one statement", "release granted in several", "renew done in several");

	private final long seed = Long.getLong("lock.random.seed", System.nanoTime());

	private final Random random = new Random(this.seed);

	private final Calls calls = new Calls(Patience.COMMAND);

	private final Statements statements = new Statements(Platform.POSTGRESQL, SETTINGS);

	private final JdbcTemplate database = new JdbcTemplate(Postgres.shared().getPostgresDatabase());

	private final RecentKeys recent = new RecentKeys();

	private final Map<String, Integer> met = new TreeMap<>();

	/** The time of the next step, in microseconds. */
	private long now = 1_800_000_000_000_000L;

	private UnaryOperator<String> mistake = UnaryOperator.identity();

	private final List<String> notified = new ArrayList<>();

	private int ran;

	@BeforeEach
	void createTable() {
		this.database.execute("drop table if exists " + TABLE);
		this.database.execute(Platform.POSTGRESQL.schema(TABLE));
	}

	@AfterEach
	void dropTable() {
		this.calls.close();
		this.database.execute("drop table " + TABLE);
	}

	@Test
	void statementsDoWhatKeyStateDoes() throws SQLException {
		compare(1_000);
		assertThat(this.met).containsKeys(MET.toArray(String[]::new));
	}

	@Tag("thorough")
	@Test
	void statementsDoWhatKeyStateDoesInManySteps() throws SQLException {
		compare(STEPS);
	}

	/**
	 * Shows that the comparison finds what is wrong, by statements in which a text was
	 * replaced.
	 */
	@Tag("thorough")
	@ParameterizedTest(name = "{0}")
	@MethodSource
	void findsMistake(String mistake, String text, String replacement) {
		AtomicInteger planted = new AtomicInteger();
		this.mistake = (statement) -> {
			planted.addAndGet(statement.contains(text) ? 1 : 0);
			return statement.replace(text, replacement);
		};
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> compare(STEPS))
			.withMessageStartingWith("Seed ");
		assertThat(planted).as("statements with the mistake").hasPositiveValue();
	}

	static Stream<Arguments> findsMistake() {
		return Stream.of(
				arguments("other waiters lose their places", "else substring(waiters from '; (.*)') end, version",
						"else '-' end, version"),
				arguments("an old claim is granted", "interval '1249999 microseconds'", "interval '2 seconds'"),
				arguments("a grant lasts for seconds instead of milliseconds", "interval '1 ms'",
						"interval '1 second'"),
				arguments("the claim of a later waiter is granted", "'^exclusive ", "'exclusive "),
				arguments("a grant takes the key from another owner", " holders = ? and ends_at",
						" ? <> '' and ends_at"),
				arguments("one whose lease is over releases, or leaves it to expire", "? and ends_at > ",
						"? and timestamp 'infinity' > "),
				arguments("a request passes those that wait", "(held.waiters = '-' and ", "(true and "),
				arguments("a key is taken from its owner", "(held.ends_at <= ", "(true or held.ends_at <= "),
				arguments("a renewal shortens a lease", "greatest(ends_at, ", "least(ends_at, "));
	}

	private void compare(int steps) throws SQLException {
		try (Connection connection = Postgres.shared().getPostgresDatabase().getConnection()) {
			Session session = new Session(watched(connection), this.statements, new Unsupervised(), this.recent);
			for (int i = 0; i < steps; i++) {
				step("k" + i, session);
			}
		}
		System.out.printf("%d random steps (PostgreSQL, seed %d): %s%n", steps, this.seed, this.met);
	}

	private void step(String key, Session session) throws SQLException {
		this.now += 1 + this.random.nextInt(5_000_000);
		KeyState before = state();
		Model model = new Model(before);
		this.notified.clear();
		// The table has no row for a key that was never used.
		if (!before.equals(KeyState.FREE) || chance(50)) {
			assertThat(
					session.write(key, new OptimisticLockBackend.Read(KeyState.FREE, this.now, Session.ABSENT), before))
				.isTrue();
		}
		if (chance(60)) { // The store may remember something wrong.
			this.recent.add(key, chance(80));
		}
		String owner = (before.holders().equals("-") || chance(25)) ? owner()
				: before.holders().replaceFirst("; .*", "").replaceFirst(".* (?:by|for) (\\S+).*", "$1");
		Duration time = Duration.of(1 + this.random.nextInt(3_000_000), ChronoUnit.MICROS);
		switch (this.random.nextInt(10)) {
			case 0, 1 -> {
				Claim claim = Claim.of(key, owner, Claim.instanceOf(owner), time).fenced(chance(10));
				compare("acquire", key, before, model, session, (backend) -> {
					var result = backend.acquire(claim);
					return result.acquired() ? List.of(true, result) : List.of(false, result);
				});
			}
			case 2 -> compare("leaveToExpire", key, before, model, session,
					(backend) -> List.of(backend.leaveToExpire(key, owner, time)));
			case 3 -> compare("renew", key, before, model, session, (backend) -> backend
				.renew(List.of(Renewal.of(Claim.of(key, owner, Claim.instanceOf(owner), time)))));
			default ->
				compare("release", key, before, model, session, (backend) -> List.of(backend.release(key, owner)));
		}
	}

	private void compare(String name, String key, KeyState before, Model model, Session session,
			Function<LockBackend, List<?>> step) throws SQLException {
		List<?> expected = step.apply(model);
		this.ran = 0;
		List<?> found = Rows.run(session, step::apply);
		boolean alone = this.ran == 1;
		boolean granted = model.notifications.stream().anyMatch((one) -> one.number() > 0);
		this.met.merge(name + (granted ? " granted" : expected.get(0).equals(true) ? " done" : " refused")
				+ (alone ? " in one statement" : " in several"), 1, Integer::sum);
		List<String> wrong = new ArrayList<>();
		check(wrong, "answer", expected, found);
		check(wrong, "notifications", model.notifications.stream().map(ReleaseNotification::text).toList(),
				this.notified);
		check(wrong, "kept", texts(model.state), texts(session.read(key).state()));
		if (!wrong.isEmpty()) {
			throw new AssertionError(
					"Seed " + this.seed + ", " + name + " at " + at(this.now) + ":\n" + String.join("", wrong)
							+ "Before: " + before.holders() + " until " + at(before.end()) + ", " + texts(before));
		}
	}

	private static void check(List<String> wrong, String what, Object expected, Object found) {
		if (!expected.equals(found)) {
			wrong.add(what + "\n  of KeyState:   " + expected + "\n  in PostgreSQL: " + found + "\n");
		}
	}

	/**
	 * Returns the texts of a state. A holder whose lease is over may be kept or not.
	 */
	private List<String> texts(KeyState state) {
		boolean free = state.end() <= this.now;
		return List.of(free ? "-" : state.holders(), free ? "" : "until " + at(state.end()), state.waiters(),
				"token " + state.fencingToken());
	}

	// States

	private KeyState state() {
		long end = this.now + any(-1L, 0L, 1L, -700_000L, time(3_000_000), time(3_000_000), time(3_000_000));
		String holders = any("-", "exclusive expiring by " + owner(), "exclusive reserved for " + instance(),
				"fair reserved for " + owner(), "shared held by " + owner(), "permit-2 held by " + owner(),
				"shared held by a:1; shared held by b:2 until " + at(this.now + time(2_000_000)));
		List<String> places = new ArrayList<>();
		long last = 0;
		int count = chance(40) ? 0 : 1 + this.random.nextInt(3);
		for (int i = 0; i < count; i++) {
			// A name for each, and names with characters that could end a name.
			String name = any("w", "w;x", "w(", "held-by") + i;
			String kind = any("exclusive " + name, "exclusive " + name, "exclusive " + name, "fair " + name + ":7",
					"shared " + name, "permit-2 " + name);
			long made = this.now - age();
			long heard = Math.max(made, this.now - age());
			places.add(kind + " since " + at(made - time(9_000_000)) + " heard " + at(heard)
					+ (chance(75) ? " claim " + (1 + this.random.nextInt(1 << this.random.nextInt(30))) + " of " + name
							+ any(":8 for ", ":8~ for ") + (1 + this.random.nextInt(100_000)) + " ms made " + at(made)
							: ""));
			last = Math.max(last, heard);
		}
		String signs = "last heard " + at(last) + (chance(20) ? " silence counts from " + at(last - age()) : "");
		return KeyState.of(chance(65) ? "exclusive held by " + owner() : holders, end,
				places.isEmpty() ? "-" : String.join("; ", places) + "; " + signs, any(0L, 0L, 7L, this.now - 1));
	}

	/**
	 * Returns how old a sign of life is, mostly near to where that makes a difference,
	 * and never so old that the queue is forgotten.
	 */
	private long age() {
		long longest = Statements.micros(Statements.LONGEST_BID);
		return any(0L, 1L, -1L, longest - 1, longest, longest + 1, Statements.micros(Rows.SILENCE), time(longest),
				time(longest), time(longest), time(longest), time(4_000_000), -time(1_000_000));
	}

	private long time(long most) {
		return this.random.nextLong(1, most);
	}

	private static String at(long micros) {
		return Instant.EPOCH.plus(micros, ChronoUnit.MICROS).toString();
	}

	private String owner() {
		return instance() + ":" + this.random.nextInt(3) + (chance(30) ? Claim.RECALLABLE : "");
	}

	private String instance() {
		return any("a", "b", "w0");
	}

	private boolean chance(int percent) {
		return this.random.nextInt(100) < percent;
	}

	@SafeVarargs
	private <T> T any(T... all) {
		return all[this.random.nextInt(all.length)];
	}

	// Connections

	/**
	 * Lets a connection carry out each statement at the time of the step, and counts
	 * these but for notifications, which are collected.
	 */
	private Connection watched(Connection connection) {
		return Watched.object(Connection.class, connection, (method, arguments) -> {
			if (!method.equals("prepareStatement")) {
				return null;
			}
			String statement = this.mistake.apply((String) arguments[0])
				.replace(Platform.POSTGRESQL.now, "timestamp '" + at(this.now).replace("Z", "") + "'");
			PreparedStatement prepared = connection.prepareStatement(statement);
			if (!statement.contains(this.statements.notify)) {
				this.ran++;
				return prepared;
			}
			return Watched.object(PreparedStatement.class, prepared, (set, values) -> {
				if (set.equals("setObject") && values[0].equals(2)) {
					this.notified.add((String) values[1]);
				}
				return null;
			});
		});
	}

	private final class Unsupervised implements Session.Supervisor {

		@Override
		public Calls.Execution begin(Calls.Cancellation cancellation) {
			return KeyStateInPostgresTests.this.calls.begin(cancellation);
		}

		@Override
		public String tag() {
			return "";
		}

		@Override
		public void abandoned(boolean hangs) {
			throw new IllegalStateException();
		}

		@Override
		public void broken() {
			throw new IllegalStateException();
		}

	}

	/**
	 * A store in memory with the time of the step.
	 */
	private final class Model extends OptimisticLockBackend {

		private final List<ReleaseNotification> notifications = new ArrayList<>();

		private KeyState state;

		Model(KeyState state) {
			super(Rows.LONGEST_POLL.plusMillis(100), Rows.SILENCE, Rows.LONGEST_POLL);
			this.state = state;
		}

		@Override
		protected Read read(String key) {
			return new Read(this.state, KeyStateInPostgresTests.this.now, "");
		}

		@Override
		protected boolean write(String key, Read before, KeyState after) {
			this.state = after;
			return true;
		}

		@Override
		protected void send(ReleaseNotification notification) {
			this.notifications.add(notification);
		}

	}

}
