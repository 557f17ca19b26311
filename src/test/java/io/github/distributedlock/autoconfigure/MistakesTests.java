package io.github.distributedlock.autoconfigure;

import java.util.List;
import java.util.stream.Stream;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.ForwardingDistributedLock;
import io.github.distributedlock.LockAdmin;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.Banner;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Mistakes of people who are new to the library, and the words that they get: in the
 * report of a failed start, in a log line, or in the exception of a call. The words name
 * the cause, and what to write.
 */
@ExtendWith(OutputCaptureExtension.class)
class MistakesTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	private static final String BACKEND = "distributed-lock.backend=";

	private static final String JDBC = BACKEND + "jdbc";

	private static final String BOTH = BACKEND + "redis,jdbc";

	@ParameterizedTest(name = "{0}")
	@MethodSource({ "onDatabases", "withPermits", "withSeveralStores" })
	void areExplained(String mistake, Class<?> bean, List<String> properties, String[] words, CapturedOutput output) {
		String said = said(output, bean,
				Stream
					.concat(properties.stream(),
							Stream.of("spring.data.redis.port=" + redis.port(), "distributed-lock.wait-time=100ms"))
					.toList());
		assertThat(said).as(mistake).containsSubsequence(words);
	}

	static Stream<Arguments> onDatabases() {
		return Stream.of(
				arguments("a hyphen in the name of the table", Empty.class,
						List.of(JDBC, "distributed-lock.jdbc.table=distributed-lock"),
						"The table 'distributed-lock' is not a name of letters, digits and underscores"),
				arguments("the table of another library", Empty.class,
						List.of(JDBC, "distributed-lock.jdbc.table=shedlock",
								inMemory("create table shedlock (name varchar(64) primary key)")),
						"Could not use the table shedlock", "Action:",
						"If the table shedlock is that of something else, name another one in"
								+ " distributed-lock.jdbc.table"),
				arguments("a table in another schema", Empty.class,
						List.of(JDBC, "distributed-lock.jdbc.initialize-schema=never",
								inMemory("create schema app\\;create table app.distributed_lock (id int)")),
						"There is a table APP.distributed_lock, but none where the user looks", "Action:",
						"Set distributed-lock.jdbc.table=APP.distributed_lock"),
				arguments("no spring.datasource.url", Empty.class, List.of(JDBC),
						"Locks are kept in a database in the memory of this JVM (jdbc:h2:mem:",
						"Set spring.datasource.url"),
				arguments("a misspelt URL", Empty.class,
						List.of(JDBC, "spring.datasource.url=jdbc:postgres://localhost/shop"),
						"claims to not accept jdbcUrl, jdbc:postgres://localhost/shop", "Action:",
						"Correct spring.datasource.url, and see that the driver"),
				arguments("seconds without a unit for statements", Empty.class,
						List.of(JDBC, "distributed-lock.jdbc.command-timeout=2"),
						"distributed-lock.jdbc.command-timeout",
						"it is 2 ms, since a number without a unit is milliseconds: write 2s if seconds are meant"),
				arguments("seconds without a unit for the wait time", Empty.class,
						List.of("distributed-lock.warn-held-after=30"), "distributed-lock.warn-held-after",
						"write 30s if seconds are meant"),
				arguments("seconds without a unit for the time to keep", Empty.class,
						List.of("distributed-lock.keep-time=5"), "distributed-lock.keep-time",
						"write 5s if seconds are meant"),
				arguments("a pool whose connections transactions use up", InTransaction.class,
						List.of(JDBC, "distributed-lock.jdbc.pool-size=0",
								"distributed-lock.jdbc.command-timeout=500ms",
								"spring.datasource.hikari.maximum-pool-size=2"),
						"No connection for locks could be had", "Action:", "All connections of the pool are in use",
						"a thread in a transaction takes one more for its lock"));
	}

	static Stream<Arguments> withPermits() {
		return Stream.of(
				arguments("permits without Lua", Permits.class, List.of("distributed-lock.redis.atomicity=transaction"),
						"one of several permits, which takes scripts (Lua)", "Action:", "Allow EVALSHA and EVAL"),
				arguments("several numbers for one key", TwoNumbers.class, List.of(), "has the key \"'partner'\" of",
						"but different permits, and each request goes by its own number:" + " write the same in both"),
				arguments("all permits inside of one", Upgrade.class, List.of(),
						"requested as EXCLUSIVE, but this thread holds it with permits 5 already",
						"request the outer lock in the same way, or release it first"),
				arguments("a permit for each task, acquired by one thread", PermitOfTask.class, List.of(),
						"was acquired by thread", "Acquire such a lock with LockRequest.detached(true)"));
	}

	static Stream<Arguments> withSeveralStores() {
		return Stream.of(arguments("the store's name instead of the lock's", StoreIsJdbc.class, List.of(BOTH),
				"store = \"jdbc\" names no single DistributedLock bean", "Action:", "Write one of redisLock, jdbcLock"),
				arguments("the name of a store that is not configured", StoreIsJdbc.class, List.of(),
						"store = \"jdbc\" names no single DistributedLock bean", "Action:",
						"Add jdbc to distributed-lock.backend and write jdbcLock"),
				arguments("a lock that is injected by the name of a parameter", ByName.class, List.of(BOTH),
						"has a parameter jdbcLock, which would be the default lock", "Action:",
						"Write @Qualifier(\"jdbcLock\")"),
				arguments("a lock that is injected by the name of a field", FieldByName.class, List.of(BOTH),
						"has a field jdbcLock, which would be the default lock", "Action:",
						"Write @Qualifier(\"jdbcLock\")"),
				arguments("a lock that is injected by the name of a setter's parameter", SetterByName.class,
						List.of(BOTH), "has a parameter jdbcLock, which would be the default lock", "Action:",
						"Write @Qualifier(\"jdbcLock\")"),
				arguments("a lock around the library's lock that takes its place", LockAroundItself.class, List.of(),
						"Bean 'auditLock' takes the place of the library's lock, and asks for a lock", "Action:",
						"let its class extend ForwardingDistributedLock, declare the bean by that class, and mark the"
								+ " bean with @Primary"),
				arguments("the same for an operator", AdminByName.class, List.of(BOTH),
						"has a parameter jdbcLock, which would be the default lock", "Action:",
						"Write @Qualifier(\"jdbcLock\")"),
				arguments("a qualifier without its store", Qualified.class, List.of(),
						"asks for a lock that is not there", "Qualifier(\"jdbcLock\")", "Action:",
						"add its store to distributed-lock.backend"),
				arguments("a lock that takes the place of the default one", OwnLock.class, List.of(),
						"Locks are those of the application's own bean auditLock, and distributed-lock.backend is not"
								+ " used",
						"@Bean(defaultCandidate = false)"),
				arguments("a semicolon between stores", Empty.class, List.of(BACKEND + "redis;jdbc"),
						"Invalid value 'redis;jdbc' for configuration property 'distributed-lock.backend'",
						"several of them with commas between them"),
				arguments("the name of a database for a store", Empty.class, List.of(BACKEND + "postgresql"),
						"Invalid value 'postgresql'", "name redis, jdbc or memory (jdbc is for PostgreSQL,"),
				arguments("properties of a store that is not configured", Empty.class,
						List.of("distributed-lock.jdbc.table=shop_lock"),
						"distributed-lock.jdbc.table is set, but no lock is kept there", "Add jdbc to that list"),
				arguments("one key in two stores", TwoStores.class, List.of(BOTH), "has the key \"'ledger'\" of",
						"but different stores, so that neither waits for the other: write the same in both"));
	}

	private static Arguments arguments(String mistake, Class<?> bean, List<String> properties, String... words) {
		return Arguments.of(mistake, bean, properties, words);
	}

	private static String inMemory(String script) {
		return "spring.datasource.url=jdbc:h2:mem:mistake" + Math.abs(script.hashCode()) + ";DB_CLOSE_DELAY=-1;INIT="
				+ script.replace("create table", "create table if not exists")
					.replace("create schema", "create schema if not exists");
	}

	/**
	 * Starts an application, lets the application use locks, and returns the output and
	 * the failure.
	 */
	static String said(CapturedOutput output, Class<?> bean, List<String> properties) {
		String[] arguments = properties.stream().map("--"::concat).toArray(String[]::new);
		String failure = "";
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(
				JdbcConfigurationTests.InDatabase.class, bean)
			.web(WebApplicationType.NONE)
			.bannerMode(Banner.Mode.OFF)
			.run(arguments)) {
			assertThat(context.isActive()).isTrue();
		}
		catch (Exception ex) {
			failure = ex.toString();
		}
		return output.getAll() + failure;
	}

	static class Empty {

	}

	/**
	 * Code that runs once the application has started.
	 */
	abstract static class Running implements CommandLineRunner {

		@Autowired
		DistributedLock lock;

	}

	static class InTransaction extends Running {

		@Autowired
		private PlatformTransactionManager transactions;

		@Override
		public void run(String... arguments) {
			new TransactionTemplate(this.transactions)
				.executeWithoutResult((transaction) -> this.lock.acquire("k").close());
		}

	}

	static class Permits {

		@io.github.distributedlock.annotation.DistributedLock(key = "'partner'", permits = 5)
		public void call() {
		}

	}

	static class TwoNumbers extends Permits {

		@io.github.distributedlock.annotation.DistributedLock(key = "'partner'", permits = 3)
		public void call(String name) {
		}

	}

	static class Upgrade extends Running {

		@Override
		public void run(String... arguments) {
			this.lock.run(LockRequest.of("partner").permits(5), () -> this.lock.acquire("partner").close());
		}

	}

	static class PermitOfTask extends Running {

		@Override
		public void run(String... arguments) throws InterruptedException {
			LockHandle permit = this.lock.acquire(LockRequest.of("partner").permits(2));
			Thread task = new Thread(permit::close);
			task.start();
			task.join(Patience.PATIENCE.toMillis());
		}

	}

	static class StoreIsJdbc {

		@io.github.distributedlock.annotation.DistributedLock(key = "'ledger'", store = "jdbc")
		public void close() {
		}

	}

	static class ByName {

		ByName(DistributedLock jdbcLock) {
		}

	}

	static class AdminByName {

		AdminByName(LockAdmin jdbcLock) {
		}

	}

	static class FieldByName {

		@Autowired
		DistributedLock jdbcLock;

	}

	static class SetterByName {

		@Autowired
		void setLock(DistributedLock jdbcLock) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LockAroundItself {

		@Bean
		DistributedLock auditLock(DistributedLock lock) {
			return new ForwardingDistributedLock(lock) {
			};
		}

	}

	static class Qualified {

		Qualified(@Qualifier("jdbcLock") DistributedLock lock) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnLock {

		@Bean
		LockEngine auditLock() {
			return LockEngine.builder(new InMemoryLockBackend()).build();
		}

	}

	static class TwoStores {

		@io.github.distributedlock.annotation.DistributedLock(key = "'ledger'")
		public void write() {
		}

		@io.github.distributedlock.annotation.DistributedLock(key = "'ledger'", store = "jdbcLock")
		public void close() {
		}

	}

}
