package io.github.distributedlock.internal.observability;

import java.util.Set;

import io.github.distributedlock.engine.LockEngine;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.endpoint.expose.EndpointExposure;
import org.springframework.boot.actuate.endpoint.Sanitizer;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The Actuator endpoint, if Actuator exposes the endpoint and grants access. An
 * application that has a {@link io.github.distributedlock.DistributedLock} of its own, or
 * several engines, has no endpoint.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnSingleCandidate(LockEngine.class)
@EnableConfigurationProperties(EndpointConfiguration.Properties.class)
class EndpointConfiguration {

	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnAvailableEndpoint
	DistributedLocksEndpoint distributedLocksEndpoint(ObjectProvider<LockEngine> engine, Properties properties,
			ObjectProvider<SanitizingFunction> sanitizingFunctions) {
		return new DistributedLocksEndpoint((key) -> engine.getObject().inspect(key),
				(key, owner) -> engine.getObject().forceRelease(key, owner), () -> engine.getObject().snapshot(),
				new Sanitizer(sanitizingFunctions.orderedStream().toList()), properties.showValues());
	}

	@Bean
	@ConditionalOnMissingBean
	@ConditionalOnBean(DistributedLocksEndpoint.class)
	@ConditionalOnAvailableEndpoint(exposure = EndpointExposure.WEB)
	DistributedLocksWebExtension distributedLocksWebExtension(DistributedLocksEndpoint endpoint,
			Properties properties) {
		return new DistributedLocksWebExtension(endpoint, properties.showValues(), properties.roles());
	}

	/**
	 * Configuration of the endpoint.
	 *
	 * @param showValues When to show keys, owners and names of threads, which may be
	 * personal data.
	 * @param roles Roles that are authorized to be shown values. When empty, all
	 * authenticated users are authorized.
	 */
	@ConfigurationProperties("management.endpoint.distributedlocks")
	record Properties(@DefaultValue("never") Show showValues, @DefaultValue Set<String> roles) {
	}

}
