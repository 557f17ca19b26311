package io.github.distributedlock.autoconfigure;

import io.micrometer.context.ContextSnapshotFactory;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Carries the trace, and whatever else Micrometer knows of a thread, to what depends on
 * the future of an asynchronous request, where the application has Micrometer's library
 * for that.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(ContextSnapshotFactory.class)
class ContextPropagationConfiguration {

	@Bean
	@ConditionalOnMissingBean
	ContextCapture distributedLockContextCapture() {
		ContextSnapshotFactory factory = ContextSnapshotFactory.builder().build();
		return () -> factory.captureAll()::wrap;
	}

}
