package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.concurrent.JdkLocks;
import io.github.distributedlock.integration.DistributedLockRegistry;
import io.github.distributedlock.integration.RenewableDistributedLockRegistry;
import io.github.distributedlock.shedlock.DistributedLockProvider;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

/**
 * The interfaces of others, each where a property asks for it and its library is there. A
 * bean of the user's own stays beside it, as one that was not asked for would.
 */
@Configuration(proxyBeanMethods = false)
class AdapterConfiguration {

	private static final String SINCE_7 = "org.springframework.integration.support.locks.DistributedLock";

	@Configuration(proxyBeanMethods = false)
	@Conditional(AdapterAsked.Jdk.class)
	static class Jdk {

		@Bean
		@ConditionalOnMissingBean
		JdkLocks distributedJdkLocks(DistributedLock lock) {
			return new JdkLocks(lock);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Conditional(AdapterAsked.ShedLock.class)
	@ConditionalOnClass(name = "net.javacrumbs.shedlock.core.ExtensibleLockProvider")
	static class ShedLock {

		@Bean
		@ConditionalOnMissingBean
		DistributedLockProvider distributedLockProvider(DistributedLock lock) {
			return new DistributedLockProvider(lock);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Conditional(AdapterAsked.SpringIntegration.class)
	@ConditionalOnClass(name = "org.springframework.integration.support.locks.LockRegistry")
	@ConditionalOnMissingClass(SINCE_7)
	static class SpringIntegration6 {

		@Bean
		@ConditionalOnMissingBean
		DistributedLockRegistry distributedLockRegistry(DistributedLock lock) {
			return new DistributedLockRegistry(lock);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Conditional(AdapterAsked.SpringIntegration.class)
	@ConditionalOnClass(name = SINCE_7)
	@EnableConfigurationProperties(DistributedLockProperties.class)
	static class SpringIntegration7 {

		@Bean
		@ConditionalOnMissingBean
		RenewableDistributedLockRegistry distributedLockRegistry(DistributedLock lock,
				DistributedLockProperties properties) {
			return new RenewableDistributedLockRegistry(lock, properties.leaseTime());
		}

	}

}
