package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.observability.FlightRecorderEvents;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Events of the JDK Flight Recorder, where the runtime image has it.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(name = "jdk.jfr.Event")
class FlightRecorderConfiguration {

	@Bean
	@ConditionalOnMissingBean
	FlightRecorderEvents distributedLockFlightRecorderEvents() {
		return new FlightRecorderEvents();
	}

}
