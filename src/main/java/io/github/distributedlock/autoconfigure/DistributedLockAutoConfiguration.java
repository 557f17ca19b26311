package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.ForwardingDistributedLock;
import io.github.distributedlock.LockAdmin;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockBackendFactory;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.internal.observability.ObservabilityConfiguration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Auto-configuration for distributed locks.
 *
 * @since 1.0
 */
// The old and the new name of each class: the classes moved in Spring Boot 4.
@AutoConfiguration(afterName = { "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
		"org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
		// Spring's transaction advisor then comes first, and the check of the commit
		// inside of it.
		"org.springframework.boot.autoconfigure.transaction.TransactionAutoConfiguration",
		"org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration",
		"org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
		"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
		"org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
		"org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration" })
public final class DistributedLockAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(DistributedLockAutoConfiguration.class);

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnSwitch("enabled")
	@EnableConfigurationProperties(DistributedLockProperties.class)
	@Import({ EngineConfiguration.class, AdviceConfiguration.class, LockProxyCheck.class,
			ObservabilityConfiguration.class, AdapterConfiguration.class, JdbcConfiguration.class })
	static class Enabled {

		Enabled(Environment environment, ListableBeanFactory beanFactory) {
			DistributedLockProperties.refuseMistakes(environment);
			if (!ConditionalOnSwitch.OnSwitch.isOn(environment, "enabled")) {
				logger
					.warn("distributed-lock.enabled=false, but the application was processed ahead of time with locks:"
							+ " methods with @DistributedLock run WITHOUT their locks, and what is locked in code still is."
							+ " Set the property when the application is built");
			}
			if (!beanFactory.containsBean("distributedLockEngine")) {
				logger
					.info("Locks are those of the application's own bean {}, and distributed-lock.backend is not used."
							+ " To have such a bean beside the store of distributed-lock.backend, define the bean with"
							+ " @Bean(defaultCandidate = false)",
							String.join(", ", beanFactory.getBeanNamesForType(DistributedLock.class, true, false)));
			}
		}

		/**
		 * The default store. Lazy, because a {@code DistributedLock} of the user needs no
		 * store.
		 */
		@Bean
		@Lazy
		@ConditionalOnMissingBean
		LockBackend distributedLockBackend(DistributedLockProperties properties, ListableBeanFactory beanFactory,
				Environment environment) {
			return Stores.create(Stores.of(environment).iterator().next(), properties, beanFactory, environment);
		}

		@Bean
		LockBackendFactory memoryLockBackendFactory() {
			return (settings) -> new InMemoryLockBackend();
		}

		@Bean
		LockBackendFactory redisLockBackendFactory(DistributedLockProperties properties,
				ListableBeanFactory beanFactory) {
			return (settings) -> {
				if (!ClassUtils.isPresent("org.springframework.data.redis.connection.RedisConnectionFactory", null)) {
					throw Stores.refusal(
							"Locks are kept in Redis (distributed-lock.backend=redis), but Spring Data Redis is not on"
									+ " the class path.",
							"Do not exclude it from the starter, or set distributed-lock.backend=jdbc for locks in a"
									+ " database.");
				}
				return RedisBackendFactory.create(properties, beanFactory);
			};
		}

		@Bean
		LockBackendFactory jdbcLockBackendFactory(ObjectProvider<JdbcStore> database) {
			return (settings) -> {
				JdbcStore store = database.getIfAvailable();
				if (store == null) {
					throw Stores.refusal(
							"Locks are kept in a database (distributed-lock.backend=jdbc), but Spring Boot's support for"
									+ " JDBC is not on the class path, or the application was processed ahead of time"
									+ " without that property.",
							"Add the dependency org.springframework.boot:spring-boot-starter-jdbc, or set the property"
									+ " when the application is built.");
				}
				return store.backend();
			};
		}

	}

	// The constructor warns at the start, also where all beans are lazy.
	@Configuration(proxyBeanMethods = false)
	@Lazy(false)
	@ConditionalOnSwitch(value = "enabled", on = false)
	@Import({ AdviceConfiguration.class, AdapterConfiguration.class })
	static class Disabled {

		Disabled() {
			logger.warn("Distributed locks are off (distributed-lock.enabled=false):"
					+ " methods with @DistributedLock run WITHOUT their locks, and so does all that is locked in code");
		}

		@Bean
		@ConditionalOnMissingBean(value = DistributedLock.class, ignored = ForwardingDistributedLock.class)
		SwitchedOffLock switchedOffDistributedLock() {
			return new SwitchedOffLock();
		}

		/** For an application with a lock of its own. */
		@Bean
		@ConditionalOnMissingBean
		LockAdmin switchedOffLockAdmin() {
			return (key, owner) -> false;
		}

		/**
		 * The lock stands in for that of each store, which code injects by its name.
		 */
		@Bean
		static BeanDefinitionRegistryPostProcessor switchedOffLocksOfStores(Environment environment) {
			return (registry) -> {
				if (registry.containsBeanDefinition("switchedOffDistributedLock")) {
					Stores.locks(environment)
						.filter((lock) -> !registry.isBeanNameInUse(lock))
						.forEach((lock) -> registry.registerAlias("switchedOffDistributedLock", lock));
				}
			};
		}

	}

}
