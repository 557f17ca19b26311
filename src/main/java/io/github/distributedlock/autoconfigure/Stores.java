package io.github.distributedlock.autoconfigure;

import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockAdmin;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockBackendFactory;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.internal.DurationRange;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.RuntimeBeanReference;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.MergedBeanDefinitionPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

import static io.github.distributedlock.autoconfigure.DistributedLockProperties.checked;

/**
 * Makes stores. The libraries that a store needs are loaded with that store, and not
 * before.
 */
final class Stores {

	private static final Logger logger = LoggerFactory.getLogger(Stores.class);

	/**
	 * The names of the library's own stores.
	 */
	private static final List<String> OWN = List.of("redis", "jdbc", "memory");

	/**
	 * The suffix of the names of beans that make stores.
	 */
	private static final String FACTORY = "LockBackendFactory";

	private static final String PROPERTY = "distributed-lock.backend";

	private Stores() {
	}

	/**
	 * Returns the names of the stores of an application, before the application has
	 * beans. The first is the default.
	 */
	static Set<String> of(Environment environment) {
		Set<String> names = new LinkedHashSet<>();
		Binder.get(environment)
			.bind(PROPERTY, Bindable.listOf(String.class))
			.orElseGet(() -> List.of("redis"))
			.forEach((name) -> names.add(name(name)));
		if (names.isEmpty()) {
			throw refusal(environment, OWN);
		}
		return names;
	}

	/**
	 * Returns the name of a store: names of the library's own stores are found in upper
	 * or lower case.
	 */
	private static String name(String written) {
		return OWN.stream().filter(written::equalsIgnoreCase).findFirst().orElse(written);
	}

	private static InvalidConfigurationPropertyValueException refusal(Environment environment, List<String> names) {
		return new InvalidConfigurationPropertyValueException(PROPERTY, environment.getProperty(PROPERTY, ""), "name "
				+ String.join(", ", names.subList(0, names.size() - 1)) + " or " + names.get(names.size() - 1)
				+ " (jdbc is for PostgreSQL, MariaDB, MySQL and H2), or several of them with commas between"
				+ " them; or remove the property for redis. A LockBackendFactory bean adds a store of its name");
	}

	/**
	 * Returns the names of the beans that make stores, by the names of the stores.
	 */
	private static Map<String, String> factories(ListableBeanFactory beanFactory) {
		Map<String, String> factories = new LinkedHashMap<>();
		OWN.forEach((name) -> factories.put(name, name + FACTORY));
		for (String bean : BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beanFactory, LockBackendFactory.class,
				true, false)) {
			factories.putIfAbsent(bean.endsWith(FACTORY) ? bean.substring(0, bean.length() - FACTORY.length()) : bean,
					bean);
		}
		return factories;
	}

	/**
	 * Makes the store that has a name.
	 */
	static LockBackend create(String name, DistributedLockProperties properties, ListableBeanFactory beanFactory,
			Environment environment) {
		Map<String, String> factories = factories(beanFactory);
		String known = name(name);
		if (!factories.containsKey(known)) {
			throw refusal(environment, List.copyOf(factories.keySet()));
		}
		LockBackendFactory factory = beanFactory.getBean(factories.get(known), LockBackendFactory.class);
		return checked("stores." + known, properties.stores().getOrDefault(known, Map.of()),
				(values) -> factory.create(new StoreSettings(properties.watchdogTimeout(), values)));
	}

	private record StoreSettings(Duration watchdogTimeout,
			Map<String, String> values) implements LockBackendFactory.Settings {
	}

	/**
	 * Makes the library's own stores.
	 */
	@Configuration(proxyBeanMethods = false)
	static class Own {

		@Bean
		LockBackendFactory memoryLockBackendFactory() {
			return (settings) -> new InMemoryLockBackend();
		}

		@Bean
		LockBackendFactory redisLockBackendFactory(DistributedLockProperties properties,
				ListableBeanFactory beanFactory) {
			return (settings) -> {
				if (!ClassUtils.isPresent("org.springframework.data.redis.connection.RedisConnectionFactory", null)) {
					throw refusal(
							"Locks are kept in Redis (distributed-lock.backend=redis), but Spring Data Redis is not on"
									+ " the class path.",
							"Do not exclude it from the starter, or set distributed-lock.backend=jdbc for locks in a"
									+ " database.");
				}
				return RedisBackendFactory.create(properties, beanFactory);
			};
		}

		@Bean
		LockBackendFactory jdbcLockBackendFactory(ObjectProvider<JdbcStore> database) {
			return (settings) -> {
				JdbcStore store = database.getIfAvailable();
				if (store == null) {
					throw refusal(
							"Locks are kept in a database (distributed-lock.backend=jdbc), but Spring Boot's support for"
									+ " JDBC is not on the class path, or the application was processed ahead of time"
									+ " without that property.",
							"Add the dependency org.springframework.boot:spring-boot-starter-jdbc, or set the property"
									+ " when the application is built.");
				}
				return store.backend();
			};
		}

	}

	/**
	 * Returns the bean that leads to a store: the bean that a property names, or the only
	 * or primary one.
	 * @throws LockBackendException if there is no such bean
	 */
	static <T> T bean(Class<T> type, String property, @Nullable String name, ListableBeanFactory beanFactory,
			String missing, String remedy) {
		List<String> candidates = Arrays.asList(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beanFactory, type));
		String names = String.join(", ", candidates);
		String kind = type.getSimpleName();
		if (StringUtils.hasText(name)) {
			if (candidates.contains(name)) {
				return beanFactory.getBean(name, type);
			}
			throw refusal("There is no " + kind + " bean '" + name + "', which " + property + " names.",
					candidates.isEmpty()
							? "Define that bean, or remove the property to use the one that Spring Boot defines."
							: "Name one of " + names + ", or define that bean.");
		}
		T unique = beanFactory.getBeanProvider(type).getIfUnique();
		if (unique != null) {
			return unique;
		}
		throw candidates.isEmpty() ? refusal(missing, remedy)
				: refusal("The application has several " + kind + " beans, none of them primary: " + names + ".",
						"Name the one for the locks, for example " + property + "=" + candidates.get(0)
								+ ", or mark it with @Primary.");
	}

	private static LockBackendException refusal(String problem, String remedy) {
		return LockBackendException.of(problem).remedy(remedy).withoutEffect(true).build();
	}

	/**
	 * Hands a command timeout to the settings of a store. Refuses a timeout that is
	 * longer than the lease, and warns if five timeouts are at least as long as the
	 * lease.
	 */
	static <S> S timeout(String store, Duration timeout, Duration lease, Function<Duration, S> settings) {
		S accepted = settings.apply(timeout);
		// The engine refuses a lease that is out of range.
		if (!DurationRange.RENEWED_LEASE.contains(lease)) {
			return accepted;
		}
		if (timeout.compareTo(lease) > 0) {
			throw new IllegalArgumentException("it is longer than distributed-lock.watchdog-timeout ("
					+ DurationRange.text(lease)
					+ "), so that one command without an answer costs a lock; choose less than a fifth of that");
		}
		if (timeout.multipliedBy(5).compareTo(lease) >= 0) {
			logger.warn(
					"distributed-lock.watchdog-timeout ({}) is not more than five times distributed-lock.{}.command-timeout"
							+ " ({}), so that a few commands without an answer cost a lock: choose more than {}, or a"
							+ " command timeout of less than {}",
					DurationRange.text(lease), store, DurationRange.text(timeout),
					DurationRange.text(timeout.multipliedBy(5)), DurationRange.text(lease.dividedBy(5)));
		}
		return accepted;
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
			this.backends = of(environment);
			for (String store : OWN) {
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
			if (registry instanceof ListableBeanFactory beanFactory) {
				Map<String, String> factories = factories(beanFactory);
				if (!factories.keySet().containsAll(this.backends)) {
					throw refusal(this.environment, List.copyOf(factories.keySet()));
				}
			}
			String first = this.backends.iterator().next();
			Set<String> stores = new LinkedHashSet<>(OWN);
			stores.addAll(this.backends);
			for (String store : stores) {
				String lock = store + "Lock";
				if (registry.isBeanNameInUse(lock)) {
					continue;
				}
				if (store.equals(first) || isInMemory()) {
					registry.registerAlias("distributedLockEngine", lock);
				}
				else if (this.backends.contains(store)) {
					RuntimeBeanReference backend = new RuntimeBeanReference(lock + "Backend");
					register(registry, backend.getBeanName(), Stores.class, "create", store);
					register(registry, lock, EngineConfiguration.class, "distributedLockEngine", backend);
					register(registry, lock + "Lifecycle", EngineLifecycle.class, null, new RuntimeBeanReference(lock),
							backend);
					register(registry, lock + "InjectionCheck", InjectionCheck.class, null, lock);
				}
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
	 * Refuses a parameter that has the name of a lock which is injected by a qualifier
	 * only: Spring would inject the default lock there, without a message.
	 */
	static final class InjectionCheck implements MergedBeanDefinitionPostProcessor {

		private final String lock;

		InjectionCheck(String lock) {
			this.lock = lock;
		}

		@Override
		public void postProcessMergedBeanDefinition(RootBeanDefinition definition, Class<?> type, String name) {
			if (callables(definition, type).flatMap((callable) -> Stream.of(callable.getParameters()))
				.anyMatch((parameter) -> parameter.getName().equals(this.lock)
						&& Set.of(DistributedLock.class, LockAdmin.class).contains(parameter.getType())
						&& parameter.getAnnotations().length == 0)) {
				throw new LockDefinitionException(
						"Bean '" + name + "' has a parameter " + this.lock
								+ ", which would be the default lock, whatever the name of the parameter is",
						"write @Qualifier(\"" + this.lock + "\") before the parameter", null);
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
				Constructor<?>[] all = type.getDeclaredConstructors();
				return (all.length == 1) ? Stream.of(all)
						: Stream.of(all).filter((each) -> each.isAnnotationPresent(Autowired.class));
			}
			catch (LinkageError ex) {
				return Stream.empty(); // The class of a parameter is missing.
			}
		}

	}

}
