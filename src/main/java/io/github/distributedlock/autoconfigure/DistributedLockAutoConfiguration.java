package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.DistributedLock;
import org.slf4j.LoggerFactory;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * Auto-configuration for distributed locks.
 */
// Both names of each: they moved in Spring Boot 4.
@AutoConfiguration(afterName = { "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
		"org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
		// Its advisor comes first then, and the check of the commit inside of it.
		"org.springframework.boot.autoconfigure.transaction.TransactionAutoConfiguration",
		"org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration",
		"org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
		"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
		"org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
		"org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration" })
public final class DistributedLockAutoConfiguration {

	@Configuration(proxyBeanMethods = false)
	@Conditional(LocksEnabled.class)
	@EnableConfigurationProperties(DistributedLockProperties.class)
	@Import({ BackendConfiguration.class, EngineConfiguration.class, AdviceConfiguration.class, LockProxyCheck.class,
			MeterConfiguration.class, ObservationConfiguration.class, ContextPropagationConfiguration.class,
			FlightRecorderConfiguration.class, EndpointConfiguration.class, AdapterConfiguration.class })
	static class Enabled {

	}

	@Configuration(proxyBeanMethods = false)
	@Conditional(LocksEnabled.Not.class)
	@Import({ AdviceConfiguration.class, AdapterConfiguration.class })
	static class Disabled {

		Disabled() {
			LoggerFactory.getLogger(DistributedLockAutoConfiguration.class)
				.warn("Distributed locks are off (distributed-lock.enabled=false):"
						+ " methods with @DistributedLock run WITHOUT their locks, and so does all that is locked by hand");
		}

		@Bean
		@ConditionalOnMissingBean(DistributedLock.class)
		SwitchedOffLock switchedOffDistributedLock() {
			return new SwitchedOffLock();
		}

	}

}
