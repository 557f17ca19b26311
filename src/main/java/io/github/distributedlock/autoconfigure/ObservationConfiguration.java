package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.WaitObserver;
import io.github.distributedlock.observability.LockObservations;
import io.micrometer.observation.ObservationRegistry;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Observations of waits, where the application has a registry for them.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnSingleCandidate(ObservationRegistry.class)
class ObservationConfiguration {

	@Bean
	@ConditionalOnMissingBean(WaitObserver.class)
	LockObservations distributedLockObservations(ObservationRegistry registry) {
		return new LockObservations(registry);
	}

}
