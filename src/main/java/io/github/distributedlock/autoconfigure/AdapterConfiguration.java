package io.github.distributedlock.autoconfigure;

import java.time.Duration;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.concurrent.JdkLocks;
import io.github.distributedlock.integration.DistributedLockRegistry;
import io.github.distributedlock.integration.RenewableDistributedLockRegistry;
import io.github.distributedlock.shedlock.DistributedLockProvider;
import net.javacrumbs.shedlock.core.LockProvider;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

/**
 * The interfaces of others, each where a property asks for it and its library is there.
 * ShedLock looks for one provider by type, so that any of the user's is the only one. A
 * registry is given to what uses it, so that one of another kind stays beside it.
 */
@Configuration(proxyBeanMethods = false)
class AdapterConfiguration {

	private static final String SHEDLOCK = "net.javacrumbs.shedlock.core.ExtensibleLockProvider";

	private static final String SPRING_INTEGRATION = "org.springframework.integration.support.locks.LockRegistry";

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
	@ConditionalOnClass(name = SHEDLOCK)
	static class ShedLock {

		@Bean
		@ConditionalOnMissingBean(LockProvider.class)
		DistributedLockProvider distributedLockProvider(DistributedLock lock) {
			return new DistributedLockProvider(lock);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Conditional(AdapterAsked.ShedLock.class)
	@ConditionalOnMissingClass(SHEDLOCK)
	static class WithoutShedLock {

		WithoutShedLock() {
			tellOfMissing("shedlock", "net.javacrumbs.shedlock:shedlock-core");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Conditional(AdapterAsked.SpringIntegration.class)
	@ConditionalOnMissingClass(SPRING_INTEGRATION)
	static class WithoutSpringIntegration {

		WithoutSpringIntegration() {
			tellOfMissing("spring-integration", "org.springframework.integration:spring-integration-core");
		}

	}

	private static void tellOfMissing(String adapter, String library) {
		LoggerFactory.getLogger(AdapterConfiguration.class)
			.info("distributed-lock.adapters.{}=true has no effect, since {} is not on the class path:"
					+ " add it, or remove the property", adapter, library);
	}

	@Configuration(proxyBeanMethods = false)
	@Conditional(AdapterAsked.SpringIntegration.class)
	@ConditionalOnClass(name = SPRING_INTEGRATION)
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
	static class SpringIntegration7 {

		/**
		 * Where locks are off, there are no properties, and no lease ends.
		 */
		private static final Duration WITHOUT_LOCKS = Duration.ofSeconds(30);

		@Bean
		@ConditionalOnMissingBean({ DistributedLockRegistry.class, RenewableDistributedLockRegistry.class })
		RenewableDistributedLockRegistry distributedLockRegistry(DistributedLock lock,
				ObjectProvider<DistributedLockProperties> properties) {
			DistributedLockProperties known = properties.getIfAvailable();
			return new RenewableDistributedLockRegistry(lock, (known != null) ? known.leaseTime() : WITHOUT_LOCKS);
		}

	}

}
