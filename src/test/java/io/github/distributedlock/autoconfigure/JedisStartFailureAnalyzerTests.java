package io.github.distributedlock.autoconfigure;

import java.util.Optional;

import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.NoDatabase;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.exceptions.JedisConnectionException;

import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

/**
 * Tests for {@link JedisStartFailureAnalyzer}.
 */
@ExtendWith(OutputCaptureExtension.class)
class JedisStartFailureAnalyzerTests {

	private static final String NOBODY = "127.0.0.1:1";

	@ParameterizedTest
	@CsvSource({ "spring.data.redis.cluster.nodes, Could not initialize cluster slots cache",
			"spring.data.redis.sentinel.nodes, All sentinels down" })
	void namesLettuceAsTheWayOut(String nodes, String reason, CapturedOutput output) {
		assertThat(FailedStart.report(output, Everything.class, properties("jedis", nodes)))
			.contains("the Jedis client cannot start without it: " + reason)
			.contains("Check that Redis runs")
			.contains("io.lettuce:lettuce-core");
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
		assertThat(new JedisStartFailureAnalyzer().analyze(failure)).isNull();
	}

	@Test
	void endsWithAFailureThatIsAmongItsOwnCauses() {
		IllegalStateException cause = new IllegalStateException();
		Throwable failure = new BeanCreationException("cache", "no", cause);
		cause.initCause(failure);
		assertThat(assertTimeoutPreemptively(Patience.PATIENCE,
				() -> Optional.ofNullable(new JedisStartFailureAnalyzer().analyze(failure))))
			.isEmpty();
	}

	private static String[] properties(String client, String nodes) {
		String mode = nodes.contains("sentinel") ? "spring.data.redis.sentinel.master=main" : "a=b";
		return new String[] { "spring.data.redis.client-type=" + client, nodes + "=" + NOBODY, mode };
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(NoDatabase.class)
	static class Everything {

	}

}
