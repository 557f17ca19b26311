package io.github.distributedlock.autoconfigure;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.fixtures.Access;
import io.github.distributedlock.fixtures.Lazy;
import io.github.distributedlock.fixtures.NoDatabase;
import io.github.distributedlock.fixtures.RedisSentinels;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.SmallestBackend;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;

import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.Mockito.mock;

/**
 * Tests for {@link EngineLifecycle}: the checks of Redis at the start of an application.
 */
@ExtendWith(OutputCaptureExtension.class)
class StartUpCheckTests {

	// A machine that is busy must not look like a server that does not answer.
	private static final String PATIENT = "distributed-lock.redis.command-timeout=20s";

	private static final Lazy<RedisSentinels> SENTINELS = new Lazy<>(
			() -> RedisSentinels.start(RedisServers.EMBEDDED, Access.OPEN, Access.of("shop", "s3cret"), 0),
			RedisSentinels::close);

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	private static final String NOTHING_ATOMIC = "user default on nopass ~* &* +@all -eval -evalsha -multi -watch";

	@AfterAll
	static void end() {
		SENTINELS.end();
	}

	@ParameterizedTest
	@ValueSource(strings = { "jedis", "lettuce" })
	void saysOnceWhatKeepsLocksAtomicAndLeavesNothingBehind(String client, CapturedOutput output) {
		application(client, redis.port()).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).containsOnlyOnce("Locks are kept atomic by lua on Redis 6.2.");
			assertThat(redis.admin().dbSize()).isZero();
			context.getBean(DistributedLock.class).acquire("key").close();
			assertThat(output).containsOnlyOnce("Locks are kept atomic");
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "jedis", "lettuce" })
	void nothingAtomicStopsTheStart(String client, CapturedOutput output) {
		String report = report(output, List.of(), NOTHING_ATOMIC, "spring.data.redis.client-type=" + client);
		assertThat(report).containsSubsequence("Description:", "Redis could not keep locks: Redis 6.2.",
				" offers no atomic compare-and-change operation",
				"    lua: NOPERM this user has no permissions to run the 'evalsha' command",
				"    native (DELEX), native (DELIFEQ), native (SET IFEQ): ERR syntax error",
				"    native (TAIR): ERR unknown command `CAS`" + System.lineSeparator(),
				"    transaction: NOPERM this user has no permissions to run the 'watch' command", "Action:",
				"Either allow one of these to the user of the connection",
				"    lua: ACL SETUSER <user> ~lock* &lock-wake:* +", "+evalsha",
				"    transaction: ACL SETUSER <user> ~lock* &lock-wake:* +", "+watch", "Or do without: ",
				"distributed-lock.redis.atomicity=best-effort");
	}

	@ParameterizedTest
	@ValueSource(strings = { "~orders*", "~lock:*" })
	void otherKeysThanThoseOfLocksStopTheStart(String keys, CapturedOutput output) {
		assertThat(report(output, List.of(), "user default on nopass " + keys + " &* +@all")).containsSubsequence(
				"no atomic compare-and-change operation on the keys of locks, such as 'lock:{",
				"NOPERM this user has no permissions to access one of the keys", "Action:",
				"ACL SETUSER <user> ~lock* &lock-wake:* +", "distributed-lock.redis.prefix");
	}

	/**
	 * Returns the report of an application whose Redis has a line of configuration.
	 */
	private static String report(CapturedOutput output, List<Class<?>> beans, String configuration,
			String... properties) {
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED, configuration)) {
			List<Class<?>> application = Stream.concat(Stream.of(NoDatabase.class), beans.stream()).toList();
			String[] all = Stream
				.concat(Stream.of(PATIENT, "spring.data.redis.port=" + server.port()), Stream.of(properties))
				.toArray(String[]::new);
			return FailedStart.report(output, application, all);
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					jedis, lettuce | database=99                          | ERR DB index is out of range                   | set spring.data.redis.database
					jedis          | password=secret                      | ERR AUTH <password> called without any password | remove spring.data.redis.password
					jedis, lettuce | username=bob, password=secret        | WRONGPASS                                      | correct spring.data.redis.username
					lettuce        | cluster.nodes=localhost:PORT         | ERR This instance has cluster support disabled | spring.data.redis.cluster.nodes
					""")
	void whatNoRetryCuresStopsTheStart(String clients, String properties, String said, String remedy) {
		for (String client : clients.split(", ")) {
			String[] set = Stream.of(properties.split(", "))
				.map((property) -> "spring.data.redis." + property.replace("PORT", String.valueOf(redis.port())))
				.toArray(String[]::new);
			application(client, redis.port()).withPropertyValues(set)
				.run((context) -> assertThat(context).getFailure()
					.as(client)
					.hasStackTraceContaining(said)
					.hasStackTraceContaining(remedy));
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					master=other, username=shop, password=s3cret | knows no master of the name 'other' | sentinel.master
					master=locks, username=shop, password=wrong  | WRONGPASS                           | sentinel.username and spring.data.redis.sentinel.password
					master=locks                                 | NOAUTH                              | sentinel.password
					""")
	void whatSentinelsSayAndNoRetryCuresStopsTheStart(String properties, String said, String remedy,
			CapturedOutput output) {
		// The first Sentinel is down, and says nothing.
		assertSentinelsStopTheStart(output, "localhost:1," + SENTINELS.get().sentinels().get(0), properties, said,
				remedy);
	}

	@Test
	void serverThatIsNoSentinelStopsTheStart(CapturedOutput output) {
		assertSentinelsStopTheStart(output, redis.server().toString(), "master=locks", "ERR unknown command `SENTINEL`",
				"sentinel.nodes");
	}

	private static void assertSentinelsStopTheStart(CapturedOutput output, String nodes, String properties, String said,
			String remedy) {
		Stream<String> sentinel = Stream.concat(Stream.of("nodes=" + nodes), Stream.of(properties.split(", ")))
			.map((property) -> "spring.data.redis.sentinel." + property);
		String[] lettuce = Stream.concat(Stream.of(PATIENT), sentinel).toArray(String[]::new);
		assertThat(FailedStart.report(output, NoDatabase.class, lettuce)).contains(said)
			.contains("spring.data.redis." + remedy)
			.doesNotContain("spring.data.redis.username", "spring.data.redis.password");
		// The failure of Jedis does not reach the library, and does not always say why.
		String[] jedis = Stream.concat(Stream.of("spring.data.redis.client-type=jedis"), Stream.of(lettuce))
			.toArray(String[]::new);
		assertThat(FailedStart.report(output, NoDatabase.class, jedis)).contains("spring.data.redis.sentinel.nodes",
				"spring.data.redis.sentinel.master",
				"spring.data.redis.sentinel.username and spring.data.redis.sentinel.password");
	}

	@Test
	void whatIsAskedForByNameAndNotAllowedStopsTheStart(CapturedOutput output) {
		assertThat(report(output, List.of(), NOTHING_ATOMIC, "distributed-lock.redis.atomicity=transaction",
				"distributed-lock.redis.prefix=shop"))
			.containsSubsequence("transaction: NOPERM", "Action:", "ACL SETUSER <user> ~shop* &shop-wake:* +", "+watch",
					"Or remove distributed-lock.redis.atomicity=transaction")
			.doesNotContain("lua: ");
	}

	@Test
	void wrongPasswordStopsTheStart(CapturedOutput output) {
		assertThat(report(output, List.of(), "requirepass secret")).containsSubsequence("Description:",
				"Redis could not keep locks: NOAUTH ", "Action:", "Set spring.data.redis.password");
	}

	@Test
	void bestEffortIsWarnedOf(CapturedOutput output) {
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED, NOTHING_ATOMIC)) {
			application("jedis", server.port()).withPropertyValues("distributed-lock.redis.atomicity=best-effort")
				.run((context) -> {
					assertThat(output).containsOnlyOnce("Locks are kept atomic by best-effort on Redis 6.2.")
						.containsOnlyOnce(
								"With distributed-lock.redis.atomicity=best-effort a command that arrives more than 250 ms late");
					context.getBean(DistributedLock.class).acquire("key").close();
				});
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "jedis", "lettuce" })
	void redisThatIsDownIsAskedByTheFirstLock(String client, CapturedOutput output) {
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED, NOTHING_ATOMIC)) {
			server.stop();
			application(client, server.port()).run((context) -> {
				assertThat(context).hasNotFailed();
				// Threads of an earlier test may still write about its locks.
				assertThat(output.getAll()
					.lines()
					.filter((line) -> line.contains(" WARN ") && !line.contains("-listener"))).singleElement()
					.asString()
					.contains("Redis could not keep locks: ")
					.containsPattern("localhost(/127.0.0.1)?:" + server.port())
					.contains(
							"The application starts, and its first lock asks again: until the store answers, a request"
									+ " fails after its wait time");
				server.start();
				assertThatExceptionOfType(LockBackendException.class)
					.isThrownBy(() -> context.getBean(DistributedLock.class).acquire("key"))
					.withMessageContainingAll("lock 'key'", "lua: NOPERM", "transaction: NOPERM", "ACL SETUSER",
							"distributed-lock.redis.atomicity=best-effort")
					.satisfies((ex) -> assertThat(ex.isRetryable()).isFalse());
			});
		}
	}

	@Test
	void aServerThatIsBusyStopsNothing(CapturedOutput output) {
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED, "min-replicas-to-write 1",
				"requirepass secret")) {
			server.pause();
			application("jedis", server.port()).withPropertyValues("distributed-lock.redis.command-timeout=200ms")
				.run((context) -> assertThat(context).hasNotFailed());
			assertThat(output).containsOnlyOnce("The application starts, and its first lock asks again");
		}
	}

	@Test
	void isAskedEvenIfBeansAreLazy() {
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED, NOTHING_ATOMIC)) {
			application("jedis", server.port()).withInitializer(
					(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
				.run((context) -> assertThat(context).hasFailed());
		}
	}

	@Test
	void nobodyAsksForALockOfTheUsersOwn() {
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED)) {
			long connections = connections(server);
			application("jedis", server.port()).withBean("own", DistributedLock.class, () -> mock())
				.run((context) -> assertThat(context).hasNotFailed());
			application("jedis", server.port()).withPropertyValues("distributed-lock.backend=memory")
				.run((context) -> assertThat(context).hasNotFailed());
			assertThat(connections(server)).as("only that of the test").isEqualTo(connections + 1);
		}
	}

	@ParameterizedTest
	@ValueSource(classes = { Sharing.class, Fair.class, Limited.class })
	void annotationThatTheServerCannotServeStopsTheStart(Class<?> type, CapturedOutput output) {
		String request = Map.of(Sharing.class, "SHARED", Fair.class, "fair", Limited.class, "one of several permits")
			.get(type);
		assertThat(report(output, List.of(type), "user default on nopass ~* &* +@all -eval -evalsha"))
			.containsSubsequence("Description:",
					"@DistributedLock on " + type.getName()
							+ ".run(): not possible here: Lock 'report' was requested as " + request,
					"scripts (Lua)", "Action:", "Allow EVALSHA", "The application does not start");
	}

	@Test
	void settingsRefuseAnAnnotationEvenIfRedisIsDown() {
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED)) {
			server.stop();
			for (String atomicity : List.of("transaction", "native", "best-effort")) {
				Contexts.refuses(
						application("jedis", server.port())
							.withPropertyValues("distributed-lock.redis.atomicity=" + atomicity)
							.withBean(Sharing.class),
						LockDefinitionException.class, "not possible here: Lock 'report' was requested as SHARED");
			}
			application("jedis", server.port()).withBean(Sharing.class)
				.run((context) -> assertThat(context).hasNotFailed());
		}
	}

	@Test
	void fencedIsRefusedByNameOnAStoreWithoutTokens() {
		Contexts.refuses(Contexts.withRedis().withBean(LockBackend.class, SmallestBackend::new).withBean(Fenced.class),
				LockDefinitionException.class, "was requested as fenced");
	}

	@Test
	void annotationOfALazyBeanIsRefusedAtTheCall() {
		application("jedis", redis.port()).withPropertyValues("distributed-lock.redis.atomicity=transaction")
			.withBean(Sharing.class, Sharing::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				Sharing work = context.getBean(Sharing.class);
				assertThatExceptionOfType(LockBackendException.class).isThrownBy(work::run)
					.withMessageContainingAll("Lock 'report' was requested as SHARED", "scripts (Lua)");
				assertThat(redis.admin().dbSize()).isZero();
			});
	}

	@Test
	void annotationsThatTheServerCanServeStart() {
		application("jedis", redis.port()).withBean(Sharing.class).withBean(Fair.class).run((context) -> {
			assertThat(context).hasNotFailed();
			context.getBean(Sharing.class).run();
			context.getBean(Fair.class).run();
		});
	}

	private static ApplicationContextRunner application(String client, int port) {
		return Contexts.withRedis()
			.withPropertyValues(PATIENT, "distributed-lock.watchdog-timeout=2m",
					"spring.data.redis.client-type=" + client, "spring.data.redis.port=" + port);
	}

	private static long connections(RedisServers.Server server) {
		try (Jedis admin = server.admin()) {
			return admin.info("stats")
				.lines()
				.filter((line) -> line.startsWith("total_connections_received:"))
				.mapToLong((line) -> Long.parseLong(line.substring(line.indexOf(':') + 1).strip()))
				.sum();
		}
	}

	static class Fenced {

		@io.github.distributedlock.annotation.DistributedLock(key = "'report'", fenced = true)
		void run() {
		}

	}

	static class Sharing {

		@io.github.distributedlock.annotation.DistributedLock(key = "'report'", mode = LockMode.SHARED)
		void run() {
		}

	}

	static class Limited {

		@io.github.distributedlock.annotation.DistributedLock(key = "'report'", permits = 3)
		void run() {
		}

	}

	static class Fair {

		@io.github.distributedlock.annotation.DistributedLock(key = "'report'", fair = true)
		void run() {
		}

	}

}
