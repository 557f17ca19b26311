package io.github.distributedlock.autoconfigure;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.ForwardingDistributedLock;
import io.github.distributedlock.LockAdmin;
import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockListener;
import io.github.distributedlock.WaitObserver;
import io.github.distributedlock.aop.DistributedLockAdvisor;
import io.github.distributedlock.autoconfigure.DistributedLockProperties.PollInterval;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.micrometer.context.ContextSnapshotFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.PropertyValues;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.InstantiationAwareBeanPostProcessor;
import org.springframework.beans.factory.config.RuntimeBeanReference;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.MergedBeanDefinitionPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import static io.github.distributedlock.autoconfigure.DistributedLockProperties.checked;

/**
 * The engine, unless the user has a {@link DistributedLock} that does without the engine,
 * and the lifecycle of the engine.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnMissingBean(value = DistributedLock.class, ignored = ForwardingDistributedLock.class)
class EngineConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(EngineConfiguration.class);

	@Bean
	static LockEngine distributedLockEngine(LockBackend backend, DistributedLockProperties properties,
			ObjectProvider<LockListener> listeners, ObjectProvider<WaitObserver> waitObserver,
			ApplicationContext context) {
		LockEngine.Builder builder = LockEngine.builder(backend);
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
	static Registrar distributedLockStores(Environment environment) {
		return new Registrar(environment);
	}

	// There is no lifecycle where a test has replaced the engine by a mock of
	// DistributedLock.
	@Bean
	static @Nullable EngineLifecycle distributedLockLifecycle(ObjectProvider<LockEngine> engine, LockBackend backend,
			ObjectProvider<DistributedLockAdvisor> advisor, ObjectProvider<EngineLifecycle.StorePool> pools,
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

	/**
	 * Gives each store beside the default one an engine, which is injected by its name
	 * only. The engine of the default store has such a name, too. Where locks are in
	 * memory only, as in tests, that engine stands in for every store. The registrar runs
	 * when all beans of the application are known, and leaves a bean that already has
	 * such a name unchanged.
	 */
	static final class Registrar implements BeanDefinitionRegistryPostProcessor {

		private final Set<String> backends;

		private final Environment environment;

		Registrar(Environment environment) {
			this.environment = environment;
			this.backends = Stores.of(environment);
			for (String store : Stores.OWN) {
				if (!this.backends.contains(store) && !isInMemory()) {
					warnOfUnused(store, environment);
				}
			}
		}

		private boolean isInMemory() {
			return this.backends.equals(Set.of("memory"));
		}

		private static void warnOfUnused(String store, Environment environment) {
			Binder.get(environment)
				.bind("distributed-lock." + store, Bindable.mapOf(String.class, String.class))
				.ifBound((set) -> logger.warn(
						"distributed-lock.{}.{} is set, but no lock is kept there, since distributed-lock.backend does not"
								+ " list {}. Add {} to that list, or remove the property",
						store, set.keySet().iterator().next(), store, store));
		}

		@Override
		public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
			Set<String> stores = Stores.all(this.backends);
			if (registry instanceof ListableBeanFactory beanFactory) {
				Set<String> known = Stores.factories(beanFactory).keySet();
				if (!known.containsAll(this.backends)) {
					throw Stores.refusal(this.environment, List.copyOf(known));
				}
				stores = isInMemory() ? known : stores;
			}
			Set<String> byQualifier = new HashSet<>();
			for (String store : stores) {
				String lock = store + "Lock";
				boolean isFree = !registry.isBeanNameInUse(lock);
				if (isFree && (isInMemory() || store.equals(this.backends.iterator().next()))) {
					registry.registerAlias("distributedLockEngine", lock);
				}
				else if (isFree && this.backends.contains(store)) {
					RuntimeBeanReference backend = new RuntimeBeanReference(lock + "Backend");
					register(registry, backend.getBeanName(), Stores.class, "create", store);
					register(registry, lock, EngineConfiguration.class, "distributedLockEngine", backend);
					register(registry, lock + "Lifecycle", EngineLifecycle.class, null, new RuntimeBeanReference(lock),
							backend);
					byQualifier.add(lock);
				}
			}
			if (!byQualifier.isEmpty()) {
				register(registry, "distributedLockInjectionCheck", InjectionCheck.class, null, byQualifier);
			}
		}

		private static void register(BeanDefinitionRegistry registry, String name, Class<?> type,
				@Nullable String method, Object... arguments) {
			RootBeanDefinition definition = new RootBeanDefinition(type);
			definition.setFactoryMethodName(method);
			for (int index = 0; index < arguments.length; index++) {
				definition.getConstructorArgumentValues().addIndexedArgumentValue(index, arguments[index]);
			}
			definition.setAutowireMode(RootBeanDefinition.AUTOWIRE_CONSTRUCTOR);
			definition.setDefaultCandidate(false);
			registry.registerBeanDefinition(name, definition);
		}

	}

	/**
	 * Refuses a parameter or field that has the name of a lock which is injected by a
	 * qualifier only: Spring would inject the default lock there, without a message.
	 * Fields and methods are checked when they are injected, also those of a test.
	 */
	static final class InjectionCheck
			implements MergedBeanDefinitionPostProcessor, InstantiationAwareBeanPostProcessor {

		private final Set<String> locks;

		/** The classes without a mistake: a bean may be made anew for each request. */
		private final Set<Class<?>> passed = ConcurrentHashMap.newKeySet();

		InjectionCheck(Set<String> locks) {
			this.locks = locks;
		}

		@Override
		public void postProcessMergedBeanDefinition(RootBeanDefinition definition, Class<?> type, String name) {
			callables(definition, type).forEach((callable) -> check(callable, name));
		}

		@Override
		public PropertyValues postProcessProperties(PropertyValues values, Object bean, String name) {
			Class<?> type = bean.getClass();
			if (!this.passed.contains(type)) {
				ReflectionUtils.doWithFields(type, (field) -> check(field, field.getType(), field.getName(), name),
						InjectionCheck::isInjected);
				// As Spring does, leaves out what a subclass overrides.
				ReflectionUtils.doWithMethods(type, (method) -> check(method, name), (method) -> isInjected(method)
						&& !isQualified(method) && method.equals(ClassUtils.getMostSpecificMethod(method, type)));
				this.passed.add(type);
			}
			return values;
		}

		private static boolean isInjected(AnnotatedElement member) {
			return member.isAnnotationPresent(Autowired.class);
		}

		/**
		 * Returns whether a member has an annotation by which Spring may choose the bean.
		 * That of a setter counts for the parameters of the setter.
		 */
		private static boolean isQualified(AnnotatedElement member) {
			return !Stream.of(member.getAnnotations()).allMatch(Autowired.class::isInstance);
		}

		private void check(Executable callable, String bean) {
			for (Parameter parameter : callable.getParameters()) {
				check(parameter, parameter.getType(), parameter.getName(), bean);
			}
		}

		private void check(AnnotatedElement target, Class<?> type, String name, String bean) {
			if (this.locks.contains(name) && !isQualified(target)
					&& (type == DistributedLock.class || type == LockAdmin.class)) {
				throw new LockDefinitionException(
						"Bean '" + bean + "' has a " + ((target instanceof Field) ? "field " : "parameter ") + name
								+ ", which would be the default lock, whatever its name is",
						"write @Qualifier(\"" + name + "\") before it", null);
			}
		}

		/**
		 * Returns the constructors or the factory method that Spring certainly calls to
		 * make the bean.
		 */
		private static Stream<? extends Executable> callables(RootBeanDefinition definition, Class<?> type) {
			Method factory = definition.getResolvedFactoryMethod();
			if (definition.getInstanceSupplier() != null || definition.hasConstructorArgumentValues()) {
				return Stream.empty();
			}
			if (factory != null) {
				return Stream.of(factory);
			}
			try {
				// Kotlin adds a synthetic one where a parameter has a default.
				List<Constructor<?>> all = Stream.of(type.getDeclaredConstructors())
					.filter((each) -> !each.isSynthetic())
					.toList();
				return all.stream().filter((each) -> all.size() == 1 || each.isAnnotationPresent(Autowired.class));
			}
			catch (LinkageError ex) {
				return Stream.empty(); // The class of a parameter is missing.
			}
		}

	}

}
