package io.github.distributedlock.autoconfigure;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LockBackendFailureAnalyzer}.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockBackendFailureAnalyzerTests {

	@Test
	void saysThatThereIsNoRedis(CapturedOutput output) {
		assertThat(FailedStart.report(output, NoRedis.class))
			.contains("Locks are kept in Redis (distributed-lock.backend=redis),"
					+ " but the application has no RedisConnectionFactory bean.")
			.contains("set spring.data.redis.host")
			.contains("or a LockBackend bean")
			.contains("distributed-lock.backend=memory");
	}

	@Test
	void saysThatThereAreSeveral(CapturedOutput output) {
		assertThat(FailedStart.report(output, Two.class))
			.contains("several RedisConnectionFactory beans, none of them primary: left, right.")
			.contains("distributed-lock.redis.connection-factory=left");
	}

	@Test
	void saysThatTheNamedOneIsMissing(CapturedOutput output) {
		assertThat(FailedStart.report(output, Two.class, "distributed-lock.redis.connection-factory=middle"))
			.contains("no RedisConnectionFactory bean 'middle', which distributed-lock.redis.connection-factory names")
			.contains("Name one of left, right");
	}

	@Test
	void saysThatTheNamedOneIsMissingWhereThereIsNone(CapturedOutput output) {
		assertThat(FailedStart.report(output, NoRedis.class, "distributed-lock.redis.connection-factory=middle"))
			.contains("no RedisConnectionFactory bean 'middle'")
			.contains("Define that bean, or remove the property");
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)
	static class NoRedis {

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

}
