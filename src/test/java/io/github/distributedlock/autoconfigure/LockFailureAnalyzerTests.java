package io.github.distributedlock.autoconfigure;

import java.util.List;
import java.util.Optional;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.NoDatabase;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.exceptions.JedisConnectionException;

import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

/**
 * Tests for {@link LockFailureAnalyzer}: of a store, of annotations, of an annotation
 * that is injected, and of Jedis.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockFailureAnalyzerTests {

	@Test
	void saysThatThereIsNoRedis(CapturedOutput output) {
		assertThat(FailedStart.report(output, DistributedLockAutoConfiguration.class)).contains(
				"Locks are kept in Redis (distributed-lock.backend=redis),"
						+ " but the application has no RedisConnectionFactory bean.",
				"set spring.data.redis.host", "or a LockBackend bean", "distributed-lock.backend=memory");
	}

	@Test
	void saysThatThereAreSeveral(CapturedOutput output) {
		assertThat(FailedStart.report(output, Two.class)).contains(
				"several RedisConnectionFactory beans, none of them primary: left, right.",
				"distributed-lock.redis.connection-factory=left");
	}

	@Test
	void saysThatTheNamedOneIsMissing(CapturedOutput output) {
		assertThat(FailedStart.report(output, Two.class, "distributed-lock.redis.connection-factory=middle")).contains(
				"no RedisConnectionFactory bean 'middle', which distributed-lock.redis.connection-factory names",
				"Name one of left, right");
	}

	@Test
	void saysThatTheNamedOneIsMissingWhereThereIsNone(CapturedOutput output) {
		assertThat(FailedStart.report(output, DistributedLockAutoConfiguration.class,
				"distributed-lock.redis.connection-factory=middle"))
			.contains("no RedisConnectionFactory bean 'middle'", "Define that bean, or remove the property");
	}

	/**
	 * The report must not blame a property, which nobody has set.
	 */
	@Test
	void saysThatAFactoryDoesNotSayWhereItLeads(CapturedOutput output) {
		assertThat(FailedStart.report(output, OfAnotherLibrary.class)).contains("does not say where it leads")
			.containsPattern("Action:\\R\\RDefine a bean of .*LettuceConnectionFactory")
			.contains("distributed-lock.redis.connection-factory")
			.doesNotContain("distributed-lock.redis.atomicity");
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)
	static class OfAnotherLibrary {

		@Bean
		RedisConnectionFactory connectionFactory() {
			return new JedisConnectionFactory() {
			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)
	static class Two {

		@Bean
		RedisConnectionFactory left() {
			return new JedisConnectionFactory();
		}

		@Bean
		RedisConnectionFactory right() {
			return new JedisConnectionFactory();
		}

	}

	@Test
	void saysWhichAnnotationIsWrongAndWhatToWrite(CapturedOutput output) {
		assertThat(FailedStart.report(output, List.of(NoDatabase.class, Report.class)))
			.contains("$Report.write", "nightly-report")
			.containsPattern("reads the word nightly as a property of nothing\\R")
			.containsPattern("Action:\\R\\RWrite fixed text in quotes, .*'nightly-report'")
			.contains("The application does not start");
	}

	/**
	 * Spring Boot makes subclasses for proxies, also where there is an interface.
	 */
	@Test
	void saysThatAFinalClassHasNoProxyThoughItHasAnInterface(CapturedOutput output) {
		assertThat(FailedStart.report(output, List.of(NoDatabase.class, FinalReport.class)))
			.containsPattern("FinalReport.run\\(\\): the method is in a final class, so that no proxy can intercept it")
			.containsPattern("Action:\\R\\RRemove final .*, or set spring.aop.proxy-target-class=false, for a proxy of"
					+ " its interfaces");
	}

	@Test
	void finalClassIsLockedByItsInterface() {
		Contexts.inMemory()
			.withBean(FinalReport.class)
			.withPropertyValues("spring.aop.proxy-target-class=false")
			.run((context) -> {
				context.getBean(Runnable.class).run();
				assertThat(context.getBean(Runnable.class)).isNotInstanceOf(FinalReport.class);
			});
	}

	static final class FinalReport implements Runnable {

		@DistributedLock
		@Override
		public void run() {
			assertThat(LockHandle.current()).isPresent();
		}

	}

	static class Report {

		@DistributedLock("nightly-report")
		void write() {
		}

	}

	@Test
	void namesTheTypeOfTheBean(CapturedOutput output) {
		assertThat(FailedStart.report(output, WrongImport.class, "distributed-lock.backend=memory")).contains(
				"Bean 'needsLock' (method 'needsLock' parameter 0) asks for a bean of the type io.github.distributedlock.annotation.DistributedLock,"
						+ " which is the annotation.",
				"Inject io.github.distributedlock.DistributedLock instead: correct the import,");
	}

	@Test
	void leavesOtherBeansToSpringBoot(CapturedOutput output) {
		assertThat(FailedStart.report(output, List.of(NeedsGreeter.class, DistributedLockAutoConfiguration.class),
				"distributed-lock.backend=memory"))
			.contains("required a bean of type '" + Greeter.class.getName() + "' that could not be found");
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)
	static class WrongImport {

		@Bean
		String needsLock(DistributedLock lock) {
			return "never";
		}

	}

	static class NeedsGreeter {

		NeedsGreeter(Greeter greeter) {
		}

	}

	private static final String NOBODY = "127.0.0.1:1";

	@ParameterizedTest
	@CsvSource({ "spring.data.redis.cluster.nodes, Could not initialize cluster slots cache",
			"spring.data.redis.sentinel.nodes, All sentinels down" })
	void namesLettuceAsTheWayOut(String nodes, String reason, CapturedOutput output) {
		assertThat(FailedStart.report(output, NoDatabase.class, properties("jedis", nodes))).contains(
				"the Jedis client cannot start without it: " + reason, "Check that Redis runs",
				"io.lettuce:lettuce-core");
	}

	@ParameterizedTest
	@CsvSource({ "spring.data.redis.cluster.nodes", "spring.data.redis.sentinel.nodes" })
	void isRightAboutLettuce(String nodes) {
		Contexts.withRedis()
			.withPropertyValues(properties("lettuce", nodes))
			.run((context) -> assertThat(context).hasSingleBean(LockEngine.class));
	}

	@Test
	void saysNothingOfOtherFailuresOfJedis() {
		Throwable failure = new BeanCreationException("cache", "no", new JedisConnectionException("mine"));
		assertThat(new LockFailureAnalyzer().analyze(failure)).isNull();
	}

	@Test
	void endsWithAFailureThatIsAmongItsOwnCauses() {
		IllegalStateException cause = new IllegalStateException();
		Throwable failure = new BeanCreationException("cache", "no", cause);
		cause.initCause(failure);
		assertThat(assertTimeoutPreemptively(Patience.PATIENCE,
				() -> Optional.ofNullable(new LockFailureAnalyzer().analyze(failure))))
			.isEmpty();
	}

	private static String[] properties(String client, String nodes) {
		String mode = nodes.contains("sentinel") ? "spring.data.redis.sentinel.master=main" : "a=b";
		return new String[] { "spring.data.redis.client-type=" + client, nodes + "=" + NOBODY, mode };
	}

}
