package io.github.distributedlock.internal.observability;

import io.github.distributedlock.WaitObserver;
import io.github.distributedlock.aop.DistributedLockAdvisor;
import io.github.distributedlock.engine.LockEngine;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * All that shows locks: meters and observations of waits, where the application has a
 * registry for them; events of the JDK Flight Recorder, where the runtime image has the
 * recorder; and the Actuator endpoint.
 * <p>
 * No API: public only for the auto-configuration, which imports this class.
 */
@Configuration(proxyBeanMethods = false)
@Import(EndpointConfiguration.class)
public class ObservabilityConfiguration {

	@Bean
	@ConditionalOnClass(name = "jdk.jfr.Event")
	@ConditionalOnMissingBean
	FlightRecorderEvents distributedLockFlightRecorderEvents() {
		return new FlightRecorderEvents();
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(MeterRegistry.class)
	@ConditionalOnBean(MeterRegistry.class)
	static class Meters {

		@Bean
		@ConditionalOnMissingBean
		LockMeters distributedLockMeters(MeterRegistry registry) {
			return new LockMeters(registry);
		}

		/**
		 * Registers the meters of annotated methods. All of these methods are known once
		 * all singletons exist.
		 */
		@Bean
		SmartInitializingSingleton distributedLockMetersFromTheStart(LockMeters meters,
				ObjectProvider<DistributedLockAdvisor> advisors, ObjectProvider<LockEngine> engines) {
			return () -> {
				advisors.forEach((advisor) -> advisor.requests().forEach(meters::expect));
				engines.ifUnique((engine) -> meters.observe(engine, LockEngine::keysHeld, LockEngine::requestsWaiting,
						LockEngine::keysKept, LockEngine::keysTakenAgain));
			};
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ObservationRegistry.class)
	@ConditionalOnSingleCandidate(ObservationRegistry.class)
	static class Observations {

		@Bean
		@ConditionalOnMissingBean(WaitObserver.class)
		LockObservations distributedLockObservations(ObservationRegistry registry) {
			return new LockObservations(registry);
		}

	}

}
