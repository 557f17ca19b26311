package io.github.distributedlock.autoconfigure;

import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.management.ObjectName;
import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.backend.jdbc.JdbcLockBackend;
import io.github.distributedlock.faults.FaultTest;
import io.github.distributedlock.fixtures.TcpRelay;
import org.awaitility.Awaitility;
import org.h2.tools.Server;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for locks in the application's database: the choice of the database, the table,
 * and the connections.
 */
@ExtendWith(OutputCaptureExtension.class)
class JdbcConfigurationTests {

	private static final String ALWAYS = "distributed-lock.jdbc.initialize-schema=always";

	@TempDir
	private Path directory;

	@Test
	void oneLineIsEnough() {
		Contexts.inDatabase().withBean(Greeter.class).run((context) -> {
			assertThat(context).hasSingleBean(JdbcLockBackend.class);
			assertThat(context.getBean(Greeter.class).heldKeys()).containsExactly("greeting");
			try (LockHandle handle = context.getBean(DistributedLock.class).acquire("k")) {
				assertThat(owners(context.getBean(DataSource.class), "distributed_lock")).contains(handle.owner());
			}
		});
	}

	@Test
	void theTableHasTheNameThatIsSet() {
		inFile(ALWAYS, "distributed-lock.jdbc.table=shop.locks",
				"spring.datasource.hikari.connection-init-sql=create schema if not exists shop")
			.run((context) -> {
				try (LockHandle handle = context.getBean(DistributedLock.class).acquire("k")) {
					assertThat(owners(context.getBean(DataSource.class), "shop.locks")).containsExactly(handle.owner());
				}
			});
	}

	@Test
	void aNameThatIsNoneIsRefused(CapturedOutput output) {
		assertThat(failure(output, "distributed-lock.jdbc.table=locks; drop table x"))
			.contains("distributed-lock.jdbc.table", "Invalid value 'locks; drop table x'");
	}

	@ParameterizedTest
	@ValueSource(strings = { "embedded", "never" })
	void aTableThatIsMissingStopsTheStartWithTheStatementToRun(String mode, CapturedOutput output) {
		assertThat(
				failure(output, "spring.datasource.url=" + file(), "distributed-lock.jdbc.initialize-schema=" + mode))
			.containsIgnoringCase("create table")
			.contains("distributed_lock");
	}

	@Test
	void aUserThatMayNotCreateTheTableIsGivenTheStatementToRun(CapturedOutput output) throws SQLException {
		try (Connection admin = new DriverManagerDataSource(file(), "sa", "").getConnection()) {
			admin.createStatement().execute("create user shop password 'secret'");
		}
		assertThat(failure(output, "spring.datasource.url=" + file(), "spring.datasource.username=shop",
				"spring.datasource.password=secret", ALWAYS))
			.contains("The table of the locks cannot be created", "create table if not exists distributed_lock (",
					"distributed-lock.jdbc.initialize-schema=never");
	}

	@ParameterizedTest
	@ValueSource(strings = { "embedded", "always", "never" })
	void whatTheDatabaseSaysStopsTheStart(String mode, CapturedOutput output) {
		assertThat(failure(output, "spring.datasource.url=" + file() + ";IFEXISTS=TRUE",
				"distributed-lock.jdbc.initialize-schema=" + mode))
			.containsSubsequence("Description:", "No connection for locks could be had: Database \"", "\" not found",
					"Action:", "Create the database, or correct its name in spring.datasource.url")
			.doesNotContain("Connection is not available", "create table");
	}

	@Test
	void aSchemaThatIsMissingStopsTheStartWithTheStatementToRun(CapturedOutput output) {
		for (String mode : List.of("always", "never")) {
			assertThat(failure(output, "spring.datasource.url=" + file(), "distributed-lock.jdbc.table=shop.locks",
					"distributed-lock.jdbc.initialize-schema=" + mode))
				.containsSubsequence("Description:", "Schema \"SHOP\" not found", "Action:",
						"create schema if not exists shop;", "create table if not exists shop.locks");
		}
	}

	@Test
	void theLocksStartAfterWhatPreparesTheDatabase() {
		inFile("spring.sql.init.mode=always", "distributed-lock.jdbc.initialize-schema=never",
				"spring.sql.init.schema-locations=classpath:io/github/distributedlock/backend/jdbc/schema-h2.sql")
			.withConfiguration(AutoConfigurations.of(Contexts.scriptAutoConfiguration()))
			.withUserConfiguration(EarlyLock.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void noDatabaseIsRefused() {
		Contexts.refuses(Contexts.withoutRedis().withPropertyValues("distributed-lock.backend=jdbc"),
				LockBackendException.class, "the application has no DataSource bean", "spring.datasource.url");
	}

	@Test
	void oneOfSeveralIsNamed() {
		ApplicationContextRunner two = Contexts.inDatabase()
			.withBean("left", DataSource.class, () -> inMemory("left"))
			.withBean("right", DataSource.class, () -> inMemory("right"));
		Contexts.refuses(two, Throwable.class, "several DataSource beans, none of them primary: left, right.",
				"distributed-lock.jdbc.data-source=left");
		two.withPropertyValues("distributed-lock.jdbc.data-source=right").run((context) -> {
			try (LockHandle handle = context.getBean(DistributedLock.class).acquire("k")) {
				assertThat(owners(context.getBean("right", DataSource.class), "distributed_lock"))
					.containsExactly(handle.owner());
			}
		});
	}

	@Test
	void aDataSourceThatLeadsToSeveralDatabasesIsToBeNamed() {
		ApplicationContextRunner routing = Contexts.inDatabase()
			.withBean("dataSource", DataSource.class, JdbcConfigurationTests::router);
		Contexts.refuses(routing, Throwable.class, "leads to several databases", "distributed-lock.jdbc.data-source");
		routing.withPropertyValues("distributed-lock.jdbc.data-source=dataSource", ALWAYS)
			.run((context) -> context.getBean(DistributedLock.class).acquire("k").close());
	}

	@ParameterizedTest
	@MethodSource("routers")
	void aRouterBehindOtherDataSourcesIsFound(DataSource dataSource) {
		Contexts.refuses(Contexts.inDatabase().withBean("dataSource", DataSource.class, () -> dataSource),
				Throwable.class, "leads to several databases", "distributed-lock.jdbc.data-source");
	}

	static Stream<Arguments> routers() {
		DataSource router = router();
		DataSource baomidou = new com.baomidou.dynamic.datasource.ds.AbstractRoutingDataSource(router);
		HikariDataSource pool = new HikariDataSource();
		pool.setDataSource(router);
		ProxyFactory proxy = new ProxyFactory(router);
		return Stream.of(named("Baomidou's", baomidou), named("pooled", pool),
				named("proxied", (DataSource) proxy.getProxy()),
				named("lazy", new LazyConnectionDataSourceProxy(router)),
				named("transactional", new TransactionAwareDataSourceProxy(new DelegatingDataSource(router))),
				named("spied on", new SpyingDataSource(baomidou)), named("wrapped", new WrappingDataSource(router)),
				named("named", new ReadWriteSplittingDataSource()), named("named and proxied",
						(DataSource) new ProxyFactory(new ReadWriteSplittingDataSource()).getProxy()));
	}

	private static Arguments named(String name, DataSource dataSource) {
		return Arguments.of(Named.of(name, dataSource));
	}

	@Test
	void aSingleConnectionIsRefused() {
		Contexts
			.refuses(
					Contexts.inDatabase()
						.withBean("dataSource", DataSource.class,
								() -> new DelegatingDataSource(
										new SingleConnectionDataSource("jdbc:h2:mem:single", true)))
						.withPropertyValues("distributed-lock.jdbc.data-source=dataSource"),
					Throwable.class, "one connection for all threads");
	}

	@Test
	void theLocksHaveConnectionsOfTheirOwn() {
		inFile(ALWAYS, "spring.datasource.hikari.maximum-pool-size=1").run((context) -> {
			DataSource dataSource = context.getBean(DataSource.class);
			DistributedLock lock = context.getBean(DistributedLock.class);
			try (Connection only = dataSource.getConnection(); LockHandle handle = lock.acquire("k")) {
				assertThat(handle.isHeld()).isTrue();
				assertThat(only.isClosed()).isFalse();
			}
			awaitPools(1);
		});
		awaitPools(0);
	}

	@Test
	void theirTimeoutIsNotThatOfTheApplication() {
		inFile(ALWAYS).run((context) -> {
			context.getBean(DistributedLock.class).acquire("k").close();
			HikariDataSource pool = context.getBean(HikariDataSource.class);
			assertThat(pool.getDataSourceProperties()).isEmpty();
			assertThat(pool.getJdbcUrl()).doesNotContain("TIMEOUT");
		});
	}

	@Test
	void deadConnectionsAreFoundWithinOneCommandTimeout() {
		inFile(ALWAYS, "spring.datasource.hikari.register-mbeans=true").run((context) -> {
			context.getBean(DistributedLock.class).acquire("k").close();
			assertThat(ManagementFactory.getPlatformMBeanServer()
				.getAttribute(new ObjectName("com.zaxxer.hikari:type=PoolConfig (distributed-lock)"),
						"ValidationTimeout"))
				.isEqualTo(250L);
		});
	}

	@Test
	@Tag("thorough")
	void theirPoolReplacesConnectionsOfH2ThatAreSwallowed() throws SQLException {
		Server server = Server.createTcpServer("-tcpPort", "0", "-ifNotExists").start();
		try (TcpRelay relay = new TcpRelay(server.getPort())) {
			Contexts.inDatabase()
				.withPropertyValues(
						"spring.datasource.url=jdbc:h2:tcp://localhost:" + relay.port() + "/"
								+ this.directory.resolve("locks"),
						ALWAYS, "distributed-lock.jdbc.command-timeout=500ms")
				.run((context) -> {
					DistributedLock lock = context.getBean(DistributedLock.class);
					inTheEnd(lock, "before");
					relay.swallow();
					Awaitility.await().until(() -> {
						inTheEnd(lock, "after");
						return relay.hasSwallowed();
					});
				});
		}
		finally {
			server.stop();
		}
	}

	@FaultTest(value = "credentials rotated in the pool of the application, all sessions ended", with = "H2",
			promise = "the lock is kept, another one can be had")
	void theirPoolFollowsCredentialsThatAreRotated() throws SQLException {
		DriverManagerDataSource admin = new DriverManagerDataSource(file() + ";DB_CLOSE_DELAY=-1", "sa", "");
		new JdbcTemplate(admin).execute("create user shop password 'old' admin");
		inFile(ALWAYS, "spring.datasource.username=shop", "spring.datasource.password=old",
				"distributed-lock.watchdog-timeout=1m", "distributed-lock.jdbc.command-timeout=500ms")
			.run((context) -> {
				DistributedLock lock = context.getBean(DistributedLock.class);
				HikariDataSource pool = context.getBean(HikariDataSource.class);
				try (LockHandle held = lock.acquire("held")) {
					new JdbcTemplate(admin).execute("alter user shop set password 'new'");
					pool.getHikariConfigMXBean().setPassword("new");
					pool.getHikariPoolMXBean().softEvictConnections();
					new JdbcTemplate(admin).queryForList("select abort_session(session_id)"
							+ " from information_schema.sessions where user_name = 'SHOP'");
					inTheEnd(lock, "other");
					assertThat(held.isHeld()).isTrue();
				}
			});
	}

	/**
	 * On a busy machine, a new connection may take longer than the command timeout.
	 */
	private static void inTheEnd(DistributedLock lock, String key) {
		Awaitility.await().ignoreExceptions().until(() -> {
			lock.acquire(key).close();
			return true;
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "jdbc:h2:file:#;AUTO_SERVER=FALSE, 0", "jdbc:h2:mem:shared;DB_CLOSE_DELAY=-1, 6" })
	void orThoseOfTheApplication(String urlAndSize) {
		String url = urlAndSize.split(", ")[0].replace("#", this.directory.resolve("db").toString());
		Contexts.inDatabase()
			.withPropertyValues("spring.datasource.url=" + url, ALWAYS,
					"distributed-lock.jdbc.pool-size=" + urlAndSize.split(", ")[1])
			.run((context) -> {
				context.getBean(DistributedLock.class).acquire("k").close();
				awaitPools(0);
			});
	}

	@ParameterizedTest
	@ValueSource(ints = { -1, 1, 2 })
	void aPoolThatIsTooSmallIsRefused(int size, CapturedOutput output) {
		assertThat(failure(output, "distributed-lock.jdbc.pool-size=" + size))
			.contains("distributed-lock.jdbc.pool-size", "at least 3 connections");
	}

	@Test
	void aLockIsNeverPartOfTheRunningTransaction() {
		Contexts.inDatabase()
			.withBean("dataSource", DataSource.class,
					() -> new TransactionAwareDataSourceProxy(inMemory("transactions")))
			.run((context) -> {
				DataSource dataSource = context.getBean(DataSource.class);
				TransactionTemplate transactions = new TransactionTemplate(
						context.getBean(PlatformTransactionManager.class));
				try (LockHandle handle = transactions.execute((transaction) -> {
					LockHandle acquired = context.getBean(DistributedLock.class).acquire("k");
					// Would be rolled back with the transaction.
					transaction.setRollbackOnly();
					return acquired;
				})) {
					assertThat(handle.isHeld()).isTrue();
					assertThat(owners(dataSource, "distributed_lock")).hasSize(1);
					assertThat(context.getBean(DistributedLock.class).inspect("k").isFree()).isFalse();
				}
			});
	}

	@Test
	void bothStoresInOneApplication() {
		Contexts.inMemory()
			.withPropertyValues("distributed-lock.backend=memory,jdbc")
			.withConfiguration(AutoConfigurations.of(Contexts.sqlAutoConfigurations()))
			.run((context) -> {
				DistributedLock jdbc = context.getBean("jdbcLock", DistributedLock.class);
				try (LockHandle here = context.getBean(DistributedLock.class).acquire("k");
						LockHandle there = jdbc.acquire("k")) {
					assertThat(owners(context.getBean(DataSource.class), "distributed_lock"))
						.containsExactly(there.owner())
						.doesNotContain(here.owner());
				}
			});
	}

	private ApplicationContextRunner inFile(String... properties) {
		return Contexts.inDatabase()
			.withPropertyValues("spring.datasource.url=" + file())
			.withPropertyValues(properties);
	}

	private String file() {
		return "jdbc:h2:file:" + this.directory.resolve("locks");
	}

	private static List<String> owners(DataSource dataSource, String table) {
		return new JdbcTemplate(dataSource).queryForList("select holders from " + table, String.class)
			.stream()
			.map((holder) -> holder.replace("exclusive held by ", ""))
			.toList();
	}

	/** The threads that look after pools of locks. */
	/**
	 * The threads of a pool that was closed by an earlier test may end a little later.
	 */
	private static void awaitPools(int pools) {
		Awaitility.await().untilAsserted(() -> assertThat(pools()).hasSize(pools));
	}

	private static List<String> pools() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.map(Thread::getName)
			.filter((name) -> name.startsWith("distributed-lock") && name.contains("housekeeper"))
			.toList();
	}

	// With R2DBC on the class path, Spring Boot 3.5 makes no DataSource.
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(excludeName = "org.springframework.boot.autoconfigure.r2dbc.R2dbcAutoConfiguration")
	static class InDatabase {

	}

	static class EarlyLock {

		EarlyLock(DistributedLock lock) {
			lock.acquire("k").close();
		}

	}

	private static DataSource router() {
		AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {

			@Override
			protected Object determineCurrentLookupKey() {
				return "tenant";
			}

		};
		routing.setTargetDataSources(Map.of("tenant", inMemory("tenant")));
		return routing;
	}

	private static DataSource inMemory(String name) {
		return new DriverManagerDataSource("jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1");
	}

	private static String failure(CapturedOutput output, String... properties) {
		return FailedStart.report(output, InDatabase.class,
				StringUtils.addStringToArray(properties, "distributed-lock.backend=jdbc"));
	}

	/**
	 * Shows the wrapped DataSource by a getter, as P6Spy and datasource-proxy do.
	 */
	public static class SpyingDataSource extends AbstractDataSource {

		private final DataSource real;

		SpyingDataSource(DataSource real) {
			this.real = real;
		}

		public DataSource getRealDataSource() {
			return this.real;
		}

		@Override
		public Connection getConnection() throws SQLException {
			return this.real.getConnection();
		}

		@Override
		public Connection getConnection(String username, String password) throws SQLException {
			return this.real.getConnection(username, password);
		}

	}

	/**
	 * Shows the wrapped DataSource in the way of JDBC only.
	 */
	private static final class WrappingDataSource extends AbstractDataSource {

		private final DataSource real;

		WrappingDataSource(DataSource real) {
			this.real = real;
		}

		@Override
		public Connection getConnection() throws SQLException {
			return this.real.getConnection();
		}

		@Override
		public Connection getConnection(String username, String password) throws SQLException {
			return this.real.getConnection(username, password);
		}

		@Override
		public boolean isWrapperFor(Class<?> type) throws SQLException {
			return this.real.isWrapperFor(type);
		}

	}

	/**
	 * Only the name of the class says that this DataSource routes.
	 */
	private static final class ReadWriteSplittingDataSource extends DriverManagerDataSource {

	}

}
