package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.aop.DistributedLockAdvisor;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.observability.LockMeters;
import io.micrometer.core.instrument.MeterRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Meters, where the application has a registry for them.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(MeterRegistry.class)
class MeterConfiguration {

	@Bean
	@ConditionalOnMissingBean
	LockMeters distributedLockMeters(MeterRegistry registry) {
		return new LockMeters(registry);
	}

	/**
	 * Once all singletons exist, their annotated methods are known.
	 */
	@Bean
	SmartInitializingSingleton distributedLockMetersFromTheStart(LockMeters meters,
			ObjectProvider<DistributedLockAdvisor> advisors, ObjectProvider<LockEngine> engines) {
		return () -> {
			advisors.forEach((advisor) -> advisor.lockNames().forEach(meters::expect));
			engines.ifUnique((engine) -> meters.observe(engine, LockEngine::keysHeld, LockEngine::requestsWaiting));
		};
	}

}
