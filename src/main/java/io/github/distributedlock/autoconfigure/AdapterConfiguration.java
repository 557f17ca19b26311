package io.github.distributedlock.autoconfigure;

import java.time.Duration;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.concurrent.JdkLocks;
import io.github.distributedlock.integration.DistributedLockRegistry;
import io.github.distributedlock.integration.RenewableDistributedLockRegistry;
import io.github.distributedlock.reactive.ReactiveDistributedLock;
import io.github.distributedlock.shedlock.DistributedLockProvider;
import net.javacrumbs.shedlock.core.LockProvider;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/**
 * Adapters to other libraries. An adapter to an interface of another library exists if a
 * property asks for the adapter and the library is present. ShedLock looks for one
 * provider by type, so a provider of the user replaces this one. A registry is handed to
 * the beans that use the registry, so a registry of another kind may stay beside this
 * one.
 */
@Configuration(proxyBeanMethods = false)
class AdapterConfiguration {

	private static final String SINCE_7 = "org.springframework.integration.support.locks.DistributedLock";

	@Bean
	@ConditionalOnSwitch("adapters.jdk")
	@ConditionalOnMissingBean
	JdkLocks distributedJdkLocks(DistributedLock lock) {
		return new JdkLocks(lock);
	}

	/**
	 * The client for Reactor. Lazy and without a property, since nobody is offered the
	 * client by an interface of another library.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = "reactor.core.publisher.Mono")
	static class Reactor {

		@Bean
		@Lazy
		@ConditionalOnMissingBean
		ReactiveDistributedLock reactiveDistributedLock(DistributedLock lock) {
			return new ReactiveDistributedLock(lock);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnSwitch("adapters.shedlock")
	@ConditionalOnClass(name = "net.javacrumbs.shedlock.core.ExtensibleLockProvider")
	static class ShedLock {

		@Bean
		@ConditionalOnMissingBean(LockProvider.class)
		DistributedLockProvider distributedLockProvider(DistributedLock lock) {
			return new DistributedLockProvider(lock);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnSwitch("adapters.spring-integration")
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
	@ConditionalOnSwitch("adapters.spring-integration")
	@ConditionalOnClass(name = SINCE_7)
	static class SpringIntegration7 {

		// Where locks are off, there are no properties, and no lease ends.
		@Bean
		@ConditionalOnMissingBean({ DistributedLockRegistry.class, RenewableDistributedLockRegistry.class })
		RenewableDistributedLockRegistry distributedLockRegistry(DistributedLock lock,
				ObjectProvider<DistributedLockProperties> properties) {
			return new RenewableDistributedLockRegistry(lock,
					properties.stream()
						.map(DistributedLockProperties::watchdogTimeout)
						.findAny()
						.orElse(Duration.ofSeconds(30)));
		}

	}

}
