package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.Holder.State;
import io.github.distributedlock.backend.KeyState;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockBackend.HandOverResult;
import io.github.distributedlock.backend.OptimisticLockBackend;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.backend.redis.RandomSteps.Step;
import io.github.distributedlock.backend.redis.ScriptClock.Stored;
import io.github.distributedlock.backend.redis.internal.OwnConnections;
import io.github.distributedlock.backend.redis.internal.RedisClients;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Holds the scripts, and the plain commands, against {@link KeyState} at random: each
 * step runs on a real server and in memory, and afterwards the answers, the notifications
 * and all that is stored are the same. The number of steps and the random numbers are
 * those of {@code -Dlock.random.steps} and {@code -Dlock.random.seed}.
 */
class KeyStateInRedisTests {

	private static final int STEPS = Integer.getInteger("lock.random.steps", 100_000);

	/** The number of steps that use the same keys. */
	private static final int EPISODE = 250;

	private static final Pattern LIMIT = Pattern.compile(".* until (\\S+)");

	private static final Pattern OWNER = Pattern.compile(" held by ([^; ]+)");

	private static final Pattern HEARD = Pattern.compile(" heard ([^; ]+)");

	private final long seed = Long.getLong("lock.random.seed", System.nanoTime());

	private final RedisLockSettings settings = RedisLockSettings.defaults()
		.prefix("random")
		.commandTimeout(Patience.COMMAND);

	private final KeyNames names = new KeyNames(this.settings.prefix());

	private final OwnConnections connections = RedisClients.derive(Client.LETTUCE.connectTo(1), Patience.COMMAND);

	@AfterEach
	void close() {
		this.connections.close();
	}

	@Test
	void scriptsDoWhatKeyStateDoes() {
		compareScripts(RedisServers.EMBEDDED, 2_000, UnaryOperator.identity());
	}

	@Tag("thorough")
	@ParameterizedTest
	@MethodSource("io.github.distributedlock.fixtures.RedisServers#names")
	void scriptsDoWhatKeyStateDoesInManySteps(String server) {
		compareScripts(server, server.equals(RedisServers.EMBEDDED) ? STEPS : STEPS / 10, UnaryOperator.identity());
	}

	@Test
	void plainCommandsDoWhatKeyStateDoes() {
		comparePlain(1_000);
	}

	@Tag("thorough")
	@Test
	void plainCommandsDoWhatKeyStateDoesInManySteps() {
		comparePlain(STEPS / 10);
	}

	/**
	 * Shows that the comparison finds what is wrong, by scripts in which a text was
	 * replaced.
	 */
	@Tag("thorough")
	@ParameterizedTest(name = "{0}")
	@MethodSource
	void findsMistake(String mistake, String text, String replacement) {
		AtomicInteger planted = new AtomicInteger();
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(() -> compareScripts(RedisServers.EMBEDDED, STEPS, (script) -> {
				planted.addAndGet(script.contains(text) ? 1 : 0);
				return script.replace(text, replacement);
			}))
			.withMessageStartingWith("Seed ");
		assertThat(planted).as("scripts with the mistake").hasPositiveValue();
	}

	static Stream<Arguments> findsMistake() {
		return Stream.of(arguments("a lock is free after a withdrawal", "wakeNext(queue, WAITER)", ""),
				arguments("a reader comes in before a writer",
						"not isOfPermits(value) and not writerWaits(queue, claim.waiter)", "not isOfPermits(value)"),
				arguments("a renewal shortens a lease", "if redis.call('PTTL', lock) < tonumber(lease) then",
						"if true then"),
				arguments("an old claim is granted", "age < SILENCE and claim", "claim"),
				arguments("a claim of a time to come is granted", "age >= 0 and age", "age"),
				arguments("a claim without a number leaves the one before", "'HDEL', queue.claims, waiter)",
						"'HEXISTS', queue.claims, waiter)"),
				arguments("one that hears nothing is granted a lock",
						"queue.skipsDeaf and redis.pcall('PUBLISH', channel, '') == 0", "false"),
				arguments("a fair request that hears nothing loses its place", "keepsPlace = isTicket(waiter)",
						"keepsPlace = false"),
				arguments("a reader is granted a lock for itself alone",
						"not isReader(waiter) and not permitsOf(waiter)", "true"),
				arguments("one permit too many", "permits - 1, permits - 1", "permits, permits"),
				arguments("a fair request overtakes", "return not first or first == claim.waiter", "return true"),
				arguments("what is over is renewed", "or tonumber(expiry) <= millis()", ""),
				arguments("the dead are pardoned again and again", "limit = (reset or 0) - 1", "limit = -1"),
				arguments("another JVM does not ask for a lock that was kept", "string.sub(value, -1) == '~'", "false"),
				arguments("a JVM asks itself for a lock", "instance ~= instanceOf(claim.owner)", "true"),
				arguments("a JVM is asked for a lock that it has parked", "instance ~= 'parked'", "true"),
				arguments("a clock that is set back is not noticed", "if newest > now then", "if false then"));
	}

	private void compareScripts(String server, int steps, UnaryOperator<String> mistake) {
		try (Jedis jedis = RedisServers.shared(server).admin()) {
			Comparison comparison = new Comparison(new ScriptClock(jedis, this.names, mistake),
					new LuaSteps(this.connections, this.settings), Duration.ofMillis(900));
			comparison.run(server, steps);
		}
	}

	private void comparePlain(int steps) {
		try (Jedis jedis = RedisServers.shared(RedisServers.EMBEDDED).admin()) {
			Comparison comparison = new Comparison(new ScriptClock(jedis, this.names, UnaryOperator.identity()),
					new PlainSteps(new CompareAndSet.Lua(), this.connections, this.settings, new UnansweredRenewals()),
					Duration.ofDays(1));
			comparison.run("plain commands", steps);
		}
	}

	/**
	 * A store in memory with the time of the test.
	 */
	private static final class Model extends OptimisticLockBackend {

		private final Map<String, KeyState> states = new HashMap<>();

		private final List<ReleaseNotification> notifications = new ArrayList<>();

		private Set<String> deaf = Set.of();

		private long now;

		Model(Duration silence) {
			super(Duration.ofMillis(WaitingList.RESERVATION_MILLIS), silence);
		}

		void begin(long millis, Set<String> deaf) {
			this.now = 1_000 * millis;
			this.deaf = deaf;
			this.notifications.clear();
		}

		KeyState state(String key) {
			return this.states.getOrDefault(key, KeyState.FREE);
		}

		/**
		 * Returns the first group of a pattern, from each place where the kept state
		 * matches.
		 */
		Stream<String> found(List<String> keys, Function<KeyState, String> text, Pattern pattern) {
			return keys.stream().flatMap((key) -> KeyStateInRedisTests.found(pattern, text.apply(state(key))));
		}

		@Override
		protected Read read(String key) {
			return new Read(state(key), this.now, "");
		}

		@Override
		protected boolean write(String key, Read before, KeyState after) {
			this.states.put(key, after);
			return true;
		}

		@Override
		protected boolean hears(String instance) {
			return !this.deaf.contains(instance);
		}

		@Override
		protected void send(ReleaseNotification notification) {
			// An owner is asked also if nobody hears.
			if (hears(notification.waiter().instance())) {
				this.notifications.add(notification);
			}
		}

	}

	/**
	 * A run of the same steps on a server and in memory.
	 */
	private final class Comparison {

		private final ScriptClock server;

		private final LockBackend redis;

		private final boolean scripts;

		private final Model model;

		private final Map<String, Integer> met = new TreeMap<>();

		private final List<String> last = new ArrayList<>();

		/**
		 * Creates a run.
		 * @param silence after how long a silent waiter is dead
		 */
		Comparison(ScriptClock server, Steps steps, Duration silence) {
			this.server = server;
			this.redis = new StepsBackend(steps, server);
			this.scripts = steps instanceof LuaSteps;
			this.model = new Model(silence);
		}

		void run(String name, int steps) {
			Random random = new Random(KeyStateInRedisTests.this.seed);
			long now = 1_800_000_000_000L;
			for (int i = 0; i < steps; i += EPISODE) {
				List<String> keys = List.of("k" + i, "l" + i);
				RandomSteps some = new RandomSteps(random, this.scripts, keys, now);
				this.last.clear();
				try {
					for (int j = i; j < i + EPISODE; j++) {
						now = some.time(limit(keys));
						step(j, now, next(some, keys, now), some.deaf());
					}
				}
				finally {
					this.server.remove(keys);
				}
			}
			System.out.printf("%d random steps (%s, seed %d): %s%n", steps, name, KeyStateInRedisTests.this.seed,
					this.met);
		}

		/**
		 * Returns the time after which a queue, or what is known of a waiter, may be
		 * forgotten by one of both only: Redis counts from the last registration, and
		 * writes that once a second at most. So a queue is used before that, or long
		 * after.
		 */
		private long limit(List<String> keys) {
			LongStream silent = this.model.found(keys, KeyState::waiters, HEARD)
				.mapToLong((time) -> millis(time) + 8_500);
			LongStream ends = keys.stream()
				.map(this.server::stored)
				.filter(Objects::nonNull)
				.flatMap((stored) -> Stream.of(stored.waiters(), stored.liveness(), stored.claims()))
				.mapToLong((kept) -> kept.end() - 1)
				.filter((end) -> end > 0);
			return LongStream.concat(silent, ends).min().orElse(Long.MAX_VALUE);
		}

		private Step next(RandomSteps some, List<String> keys, long now) {
			Set<String> owners = this.model.found(keys, KeyState::holders, OWNER).collect(Collectors.toSet());
			Step step = some.next(owners);
			while (hidesSetBackClock(step, now)) {
				step = some.next(owners);
			}
			return step;
		}

		/**
		 * Returns whether a step hides that the clock was set back, in Redis alone: a
		 * waiter asks that was heard at a time that is yet to come, before anybody has
		 * looked for the dead. Redis forgets that time then, and KeyState does not. The
		 * difference is harmless: a waiter that is dead is pardoned once more, or once
		 * less.
		 */
		private boolean hidesSetBackClock(Step step, long now) {
			Stored stored = this.server.stored(step.keys().get(0));
			return step.waiter() != null && stored != null
					&& heard(stored).getOrDefault(group(LockCodec.text(step.waiter())), now) > now;
		}

		private void step(int number, long now, Step step, Set<String> deaf) {
			List<Supplier<String>> before = step.keys().stream().map(this::kept).toList();
			this.model.begin(now, deaf);
			this.server.begin(now, step.keys(), deaf);
			this.last.add(number + " at " + Instant.ofEpochMilli(now) + ", deaf " + deaf + ": " + step.text());
			Object expected = step.action().apply(this.model);
			Object found = step.action().apply(this.redis);
			count(step, expected);
			List<String> wrong = new ArrayList<>();
			check(wrong, "answer", answer(expected, Duration.ZERO, step, now),
					answer(found, Duration.ofMillis(1), step, now));
			check(wrong, "notifications", this.model.notifications,
					this.server.messages().stream().map(LockCodec::notification).toList());
			for (String key : step.keys()) {
				KeyState state = this.model.state(key);
				Stored stored = this.server.stored(key);
				check(wrong, "holders", holders(state, now), holders(stored));
				check(wrong, "end", state.end() / 1_000, stored.lock().end());
				check(wrong, "waiters", waiters(state), waiters(stored));
				check(wrong, "token", state.fencingToken(), stored.fence().number());
			}
			step.keys().forEach(this::forgetFairOnesThatHaveGone);
			if (!wrong.isEmpty()) {
				throw new AssertionError("Seed " + KeyStateInRedisTests.this.seed + ", step " + number + ":\n"
						+ String.join("", wrong) + "Before: " + texts(before) + "\nAfter: "
						+ texts(step.keys().stream().map(this::kept).toList()) + "\nThe last steps:\n"
						+ String.join("\n", this.last.subList(Math.max(0, this.last.size() - 30), this.last.size())));
			}
		}

		/**
		 * Redis remembers an instance whose fair requests have gone, and takes a later
		 * step of that instance for a sign of life, so that all are pardoned later.
		 * KeyState does not, which is as good. So the instance is forgotten, but not the
		 * time.
		 */
		private void forgetFairOnesThatHaveGone(String key) {
			Stored stored = this.server.stored(key);
			Set<String> waiting = stored.waiters().pairs().map((pair) -> group(pair[0])).collect(Collectors.toSet());
			stored.liveness()
				.pairs()
				.map((pair) -> pair[0])
				.filter((group) -> group.startsWith("fair:") && !waiting.contains(group))
				.forEach((group) -> this.server.rename(key, group, "gone"));
		}

		/**
		 * Returns the text of what is kept now. Only a failure needs the text.
		 */
		private Supplier<String> kept(String key) {
			KeyState state = this.model.state(key);
			Stored stored = this.server.stored(key);
			return () -> state + ", " + stored;
		}

		private List<String> texts(List<Supplier<String>> kept) {
			return kept.stream().map(Supplier::get).toList();
		}

		private void count(Step step, Object answer) {
			String kind = step.text().split(" ", 2)[0];
			AcquireResult result = (answer instanceof HandOverResult handOver) ? handOver.next()
					: (answer instanceof AcquireResult only) ? only : null;
			boolean done = (result != null) ? result.acquired()
					: !answer.equals(false) && !answer.equals(List.of(false));
			this.met.merge(kind + (done ? " done" : " refused"), 1, Integer::sum);
			this.model.notifications.forEach((each) -> this.met.merge(
					(each.owner() == null) ? "woken" : (each.number() > 0) ? "granted" : "recalled", 1, Integer::sum));
		}

		private void check(List<String> wrong, String what, Object expected, Object found) {
			if (!expected.equals(found)) {
				wrong.add(what + "\n  of KeyState: " + expected + "\n  in Redis:    " + found + "\n");
			}
		}

		/**
		 * Returns the text of an answer. A server names any of the holders that are the
		 * first to leave.
		 * @param more what the store adds to the time that is left
		 */
		private String answer(Object answer, Duration more, Step step, long now) {
			if (answer instanceof HandOverResult result) {
				return result.owned() + " " + answer(result.next(), more, step, now);
			}
			if (!(answer instanceof AcquireResult result) || result.acquired()) {
				return answer.toString();
			}
			String words = words(result.holder().state()) + result.holder().name() + " until ";
			List<String> all = holders(this.server.stored(step.keys().get(0)));
			OptionalLong end = all.stream()
				.filter((one) -> one.contains(words))
				.mapToLong(KeyStateInRedisTests::end)
				.min();
			String first = end.isEmpty() ? words + "?"
					: all.stream().filter((one) -> end(one) == end.getAsLong()).findFirst().orElseThrow();
			return "busy for " + result.remaining().minus(more) + ", " + first;
		}

	}

	private static String words(State state) {
		return switch (state) {
			case OWNER -> " held by ";
			case EXPIRING -> " expiring by ";
			case RESERVATION -> " reserved for ";
		};
	}

	private static List<String> holders(KeyState state, long now) {
		String text = state.holders();
		if (text.equals("-")) {
			return List.of();
		}
		String end = until(state.end() / 1_000);
		return Stream.of(text.split("; "))
			.map((one) -> one.contains(" until ") ? one : one + end)
			.filter((one) -> end(one) > now)
			.map((one) -> one.replaceFirst("^permit-\\d+ (held|expiring)", "permit $1"))
			.sorted()
			.toList();
	}

	private static List<String> holders(Stored stored) {
		String alone = stored.lock().text();
		return (alone != null) ? List.of(holder(alone) + until(stored.lock().end()))
				: stored.lock()
					.pairs()
					.map((pair) -> member(pair[0]) + until(Long.parseLong(pair[1])))
					.sorted()
					.toList();
	}

	private static String until(long millis) {
		return " until " + Instant.ofEpochMilli(millis);
	}

	private static String member(String member) {
		if (member.startsWith("permit:reserved:permits:")) {
			String[] words = member.split(":");
			return "permit-" + words[3] + " reserved for " + words[4];
		}
		return LockCodec.isPermit(member) ? holder(member.substring("permit:".length())).replace("exclusive", "permit")
				: member.startsWith("shared:") ? "shared held by " + member.substring("shared:".length())
						: holder(member).replace("exclusive", "shared");
	}

	private static String holder(String value) {
		Holder holder = LockCodec.holder(value);
		boolean fair = holder.isReservation() && holder.name().contains(":");
		return (fair ? "fair" : "exclusive") + words(holder.state()) + holder.name();
	}

	private static long end(String holder) {
		return found(LIMIT, holder).mapToLong(KeyStateInRedisTests::millis).findFirst().orElseThrow();
	}

	private static Stream<String> found(Pattern pattern, String text) {
		return pattern.matcher(text).results().map((result) -> result.group(1));
	}

	private static long millis(String time) {
		return Instant.parse(time).toEpochMilli();
	}

	/**
	 * Returns when each group of waiters was heard last, in ms.
	 */
	private static Map<String, Long> heard(Stored stored) {
		Map<String, Long> heard = new HashMap<>();
		stored.liveness().pairs().forEach((pair) -> heard.put(pair[0], Long.valueOf(pair[1])));
		stored.claims()
			.pairs()
			.forEach((pair) -> heard.merge(group(pair[0]), Long.valueOf(pair[1].split(" ")[2]), Math::max));
		return heard;
	}

	private static String group(String waiter) {
		Waiter one = LockCodec.waiter(waiter);
		return one.isFair() ? "fair:" + one.instance() : waiter;
	}

	private static List<String> waiters(KeyState state) {
		return Stream.of(state.waiters().split("; "))
			.filter((one) -> !one.equals("-") && !one.startsWith("last heard"))
			.map((one) -> one.replaceFirst(" since \\S+ heard \\S+", ""))
			.toList();
	}

	private static List<String> waiters(Stored stored) {
		Map<String, String> claims = stored.claims()
			.pairs()
			.collect(Collectors.toMap((pair) -> pair[0], (pair) -> pair[1]));
		return stored.waiters().pairs().map((pair) -> {
			String claim = claims.get(pair[0]);
			return waiter(LockCodec.waiter(pair[0])) + ((claim != null) ? claim(claim) : "");
		}).toList();
	}

	private static String waiter(Waiter waiter) {
		return waiter.isFair() ? "fair " + waiter.ticket()
				: (waiter.isShared() ? "shared "
						: (waiter.permits() > 1) ? "permit-" + waiter.permits() + " " : "exclusive ")
						+ waiter.instance();
	}

	private static String claim(String text) {
		String[] words = text.split(" ");
		return " claim " + Long.parseLong(words[0]) + " of " + words[3] + " for " + words[1] + " ms made "
				+ Instant.ofEpochMilli(Long.parseLong(words[2]));
	}

}
