package io.github.distributedlock.autoconfigure;

import java.util.stream.Stream;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.util.ClassUtils;

/**
 * Applications to test in.
 */
final class Contexts {

	private Contexts() {
	}

	/**
	 * With what Spring Boot would configure for locks, AOP and Redis.
	 */
	static ApplicationContextRunner withRedis() {
		return new ApplicationContextRunner().withConfiguration(AutoConfigurations
			.of(DistributedLockAutoConfiguration.class, AopAutoConfiguration.class, redisAutoConfiguration()));
	}

	/**
	 * Without Redis.
	 */
	static ApplicationContextRunner withoutRedis() {
		return new ApplicationContextRunner().withConfiguration(
				AutoConfigurations.of(DistributedLockAutoConfiguration.class, AopAutoConfiguration.class));
	}

	/**
	 * With locks in memory.
	 */
	static ApplicationContextRunner inMemory() {
		return withoutRedis().withPropertyValues("distributed-lock.backend=memory");
	}

	/**
	 * Spring Boot's, which has another name on each line.
	 */
	static Class<?> redisAutoConfiguration() {
		return Stream
			.of("org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
					"org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration")
			.filter((name) -> ClassUtils.isPresent(name, null))
			.findFirst()
			.<Class<?>>map((name) -> ClassUtils.resolveClassName(name, null))
			.orElseThrow();
	}

}
