package io.github.distributedlock.autoconfigure;

import java.time.Duration;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockListener;
import io.github.distributedlock.WaitObserver;
import io.github.distributedlock.autoconfigure.DistributedLockProperties.PollInterval;
import io.github.distributedlock.aop.DistributedLockAdvisor;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.engine.LockEngineBuilder;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/**
 * The engine, unless the user has a {@link DistributedLock}, and its lifecycle.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnMissingBean(DistributedLock.class)
class EngineConfiguration {

	@Bean
	LockEngine distributedLockEngine(LockBackend backend, DistributedLockProperties properties, Environment environment,
			ObjectProvider<LockListener> listeners, ObjectProvider<WaitObserver> waitObserver,
			ObjectProvider<ContextCapture> contextCapture, ApplicationEventPublisher events) {
		LockEngineBuilder builder = LockEngine.builder(backend);
		CheckedProperty.of("wait-time", properties.waitTime()).to(builder::waitTime);
		CheckedProperty.of("lease-time", properties.leaseTime()).to(builder::leaseTime);
		pollInterval(builder, properties.pollInterval());
		CheckedProperty.of("local-slice", properties.localSlice()).to(builder::localSlice);
		CheckedProperty.of("max-key-bytes", properties.maxKeyBytes()).to(builder::maxKeyBytes);
		Duration warnHeldAfter = properties.warnHeldAfter();
		if (warnHeldAfter != null) {
			CheckedProperty.of("warn-held-after", warnHeldAfter).to(builder::warnHeldAfter);
		}
		String application = environment.getProperty("spring.application.name", "");
		if (!application.isBlank()) {
			builder.application(application);
		}
		listeners.orderedStream().forEach(builder::listener);
		waitObserver.ifAvailable(builder::waitObserver);
		contextCapture.ifAvailable(builder::contextCapture);
		return builder.listener(new LostEventPublisher(events)).build();
	}

	// The shortest first by itself, so that the report names the one that is wrong.
	private static void pollInterval(LockEngineBuilder builder, PollInterval interval) {
		CheckedProperty.of("poll-interval.min", interval.min()).to((min) -> builder.pollInterval(min, min));
		CheckedProperty.of("poll-interval.max", interval.max()).to((max) -> builder.pollInterval(interval.min(), max));
	}

	// None where a test has put a mock of DistributedLock in the place of the engine.
	@Bean
	@Nullable EngineLifecycle distributedLockLifecycle(ObjectProvider<LockEngine> engine, LockBackend backend,
			ObjectProvider<DistributedLockAdvisor> advisor, DistributedLockProperties properties) {
		LockEngine started = engine.getIfAvailable();
		return (started != null)
				? new EngineLifecycle(started, new StartUpCheck(backend, advisor::getIfUnique, properties)) : null;
	}

}
