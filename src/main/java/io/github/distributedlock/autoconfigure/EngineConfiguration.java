package io.github.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockListener;
import io.github.distributedlock.WaitObserver;
import io.github.distributedlock.aop.DistributedLockAdvisor;
import io.github.distributedlock.autoconfigure.DistributedLockProperties.PollInterval;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.engine.LockEngineBuilder;
import io.micrometer.context.ContextSnapshotFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

import static io.github.distributedlock.autoconfigure.DistributedLockProperties.checked;

/**
 * The engine, unless the user has a {@link DistributedLock}, and the lifecycle of the
 * engine.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnMissingBean(DistributedLock.class)
class EngineConfiguration {

	@Bean
	static LockEngine distributedLockEngine(LockBackend backend, DistributedLockProperties properties,
			ObjectProvider<LockListener> listeners, ObjectProvider<WaitObserver> waitObserver,
			ApplicationContext context) {
		LockEngineBuilder builder = LockEngine.builder(backend);
		checked("wait-time", properties.waitTime(), builder::waitTime);
		checked("watchdog-timeout", properties.watchdogTimeout(), builder::watchdogTimeout);
		PollInterval interval = properties.pollInterval();
		// The minimum is set alone first, so that the report names the bound that is
		// wrong.
		checked("poll-interval.min", interval.min(), (min) -> builder.pollInterval(min, min));
		checked("poll-interval.max", interval.max(), (max) -> builder.pollInterval(interval.min(), max));
		checked("local-slice", properties.localSlice(), builder::localSlice);
		checked("keep-time", properties.keepTime(), builder::keepTime);
		checked("max-key-bytes", properties.maxKeyBytes(), builder::maxKeyBytes);
		Duration warnHeldAfter = properties.warnHeldAfter();
		if (warnHeldAfter != null) {
			checked("warn-held-after", warnHeldAfter, builder::warnHeldAfter);
		}
		String application = context.getEnvironment().getProperty("spring.application.name", "");
		if (!application.isBlank()) {
			builder.application(application);
		}
		listeners.orderedStream().forEach(builder::listener);
		waitObserver.ifAvailable(builder::waitObserver);
		if (ClassUtils.isPresent("io.micrometer.context.ContextSnapshotFactory", context.getClassLoader())) {
			builder.contextCapture(ContextPropagation.capture());
		}
		return builder.listener((event) -> {
			if (event instanceof LockEvent.Lost) {
				context.publishEvent(event);
			}
		}).build();
	}

	@Bean
	static Stores.Registrar distributedLockStores(Environment environment) {
		return new Stores.Registrar(environment);
	}

	// There is no lifecycle where a test has replaced the engine by a mock of
	// DistributedLock.
	@Bean
	static @Nullable EngineLifecycle distributedLockLifecycle(ObjectProvider<LockEngine> engine, LockBackend backend,
			ObjectProvider<DistributedLockAdvisor> advisor, ObjectProvider<StorePool> pools,
			ListableBeanFactory beanFactory) {
		LockEngine found = engine.getIfAvailable();
		return (found != null) ? new EngineLifecycle(found, backend, advisor, pools, beanFactory) : null;
	}

	/**
	 * Carries the trace, and all other context that Micrometer knows of a thread, to the
	 * code that depends on the future of an asynchronous request. Loaded only where the
	 * application has Micrometer's library for context propagation.
	 */
	private static final class ContextPropagation {

		static Supplier<UnaryOperator<Runnable>> capture() {
			ContextSnapshotFactory factory = ContextSnapshotFactory.builder().build();
			return () -> factory.captureAll()::wrap;
		}

	}

}
