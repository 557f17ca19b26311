package io.github.distributedlock.autoconfigure;

import java.util.stream.Stream;

import io.github.distributedlock.LockException;
import io.github.distributedlock.fixtures.Patience;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Applications to test in.
 */
public final class Contexts {

	private Contexts() {
	}

	/**
	 * With what Spring Boot would configure for locks, AOP and Redis.
	 */
	public static ApplicationContextRunner withRedis() {
		return new ApplicationContextRunner().withConfiguration(AutoConfigurations
			.of(DistributedLockAutoConfiguration.class, AopAutoConfiguration.class, redisAutoConfiguration()));
	}

	/**
	 * The same on a Redis that answers.
	 * @param port the port of Redis
	 */
	public static ApplicationContextRunner withRedis(int port) {
		return withRedis().withPropertyValues(patient(port));
	}

	/**
	 * The properties of an application whose commands and requests do not fail because
	 * the machine stands still for seconds.
	 * @param port the port of Redis
	 */
	public static String[] patient(int port) {
		return new String[] { "spring.data.redis.port=" + port, "spring.data.redis.timeout=10s",
				"distributed-lock.redis.command-timeout=10s",
				// More than five command timeouts, without a warning.
				"distributed-lock.watchdog-timeout=55s", "distributed-lock.wait-time=" + Patience.PATIENCE };
	}

	/**
	 * Starts an application on Redis for all tests of a class. The class closes the
	 * application.
	 * @param port the port of Redis
	 * @param components the components of the application
	 */
	public static ConfigurableApplicationContext started(int port, Class<?>... components) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		TestPropertyValues.of(patient(port)).applyTo(context);
		context.register(components);
		context.register(redisAutoConfiguration(), AopAutoConfiguration.class, DistributedLockAutoConfiguration.class);
		context.refresh();
		return context;
	}

	static ApplicationContextRunner withoutRedis() {
		return new ApplicationContextRunner().withConfiguration(
				AutoConfigurations.of(DistributedLockAutoConfiguration.class, AopAutoConfiguration.class));
	}

	public static ApplicationContextRunner inMemory() {
		return withoutRedis().withPropertyValues("distributed-lock.backend=memory");
	}

	/**
	 * With locks in a database in memory, unless the URL says otherwise.
	 */
	static ApplicationContextRunner inDatabase() {
		return withoutRedis().withConfiguration(AutoConfigurations.of(sqlAutoConfigurations()))
			.withPropertyValues("distributed-lock.backend=jdbc");
	}

	/**
	 * Asserts that an application does not start, and which words say why.
	 */
	static void refuses(ApplicationContextRunner application, Class<? extends Throwable> type, String... words) {
		application.run((context) -> assertThat(LockException.causes(context.getStartupFailure()))
			.anySatisfy((cause) -> assertThat(cause).isInstanceOf(type).hasMessageContainingAll(words)));
	}

	/**
	 * Spring Boot's.
	 */
	static Class<?> redisAutoConfiguration() {
		return present("org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
				"org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration");
	}

	/**
	 * Spring Boot's, for methods that are transactional.
	 */
	static Class<?> transactionAutoConfiguration() {
		return present("org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration",
				"org.springframework.boot.autoconfigure.transaction.TransactionAutoConfiguration");
	}

	/**
	 * The type that tells Spring Boot where Redis is.
	 */
	static Class<?> redisConnectionDetails() {
		return present("org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails",
				"org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails");
	}

	/**
	 * Spring Boot's, for observations.
	 */
	static Class<?> observationAutoConfiguration() {
		return present("org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration",
				"org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration");
	}

	/**
	 * Spring Boot's, for a database in memory and its transactions.
	 */
	static Class<?>[] sqlAutoConfigurations() {
		return Stream
			.of("jdbc.*DataSourceAutoConfiguration", "jdbc.*DataSourceTransactionManagerAutoConfiguration",
					"transaction.*TransactionManagerCustomizationAutoConfiguration",
					"transaction.*TransactionAutoConfiguration")
			.map((name) -> present("org.springframework.boot." + name.replace("*", "autoconfigure."),
					"org.springframework.boot.autoconfigure." + name.replace("*", "")))
			.toArray(Class<?>[]::new);
	}

	/**
	 * Spring Boot's, for scripts of the application that prepare its database.
	 */
	static Class<?> scriptAutoConfiguration() {
		return present("org.springframework.boot.jdbc.autoconfigure.DataSourceInitializationAutoConfiguration",
				"org.springframework.boot.autoconfigure.sql.init.SqlInitializationAutoConfiguration");
	}

	/**
	 * Returns the class that is there: each line of Spring Boot has another name.
	 */
	private static Class<?> present(String... names) {
		return Stream.of(names)
			.filter((name) -> ClassUtils.isPresent(name, null))
			.findFirst()
			.<Class<?>>map((name) -> ClassUtils.resolveClassName(name, null))
			.orElseThrow();
	}

}
