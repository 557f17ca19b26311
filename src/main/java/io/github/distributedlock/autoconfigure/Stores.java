package io.github.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockBackendFactory;
import io.github.distributedlock.internal.DurationRange;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;
import org.springframework.core.io.ClassPathResource;
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
	static final List<String> OWN = List.of("redis", "jdbc", "memory");

	/**
	 * The suffix of the names of beans that make stores.
	 */
	private static final String FACTORY = "LockBackendFactory";

	private static final String PROPERTY = "distributed-lock.backend";

	/**
	 * A file in the jar of the starter for databases, which makes these the default.
	 */
	static final String JDBC_STARTER = "META-INF/distributed-lock-jdbc-spring-boot-starter";

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
			.orElseGet(() -> List.of(preset()))
			.forEach((name) -> names.add(name(name)));
		if (names.isEmpty()) {
			throw refusal(environment, OWN);
		}
		return names;
	}

	private static String preset() {
		return new ClassPathResource(JDBC_STARTER).exists() ? "jdbc" : "redis";
	}

	/**
	 * Returns the names of the locks of all stores, also of those of the library that the
	 * application does not use.
	 */
	static Stream<String> locks(Environment environment) {
		return all(of(environment)).stream().map((store) -> store + "Lock");
	}

	/**
	 * Returns the names of all stores: the library's own, and those that are used.
	 */
	static Set<String> all(Set<String> used) {
		Set<String> all = new LinkedHashSet<>(OWN);
		all.addAll(used);
		return all;
	}

	/**
	 * Returns the name of a store: names of the library's own stores are found in upper
	 * or lower case.
	 */
	private static String name(String written) {
		return OWN.stream().filter(written::equalsIgnoreCase).findFirst().orElse(written);
	}

	static InvalidConfigurationPropertyValueException refusal(Environment environment, List<String> names) {
		return new InvalidConfigurationPropertyValueException(PROPERTY, environment.getProperty(PROPERTY, ""),
				"name " + String.join(", ", names.subList(0, names.size() - 1)) + " or " + names.get(names.size() - 1)
						+ " (jdbc is for PostgreSQL, MariaDB, MySQL and H2), or several of them with commas between"
						+ " them; or remove the property for " + preset()
						+ ". A LockBackendFactory bean adds a store of its name");
	}

	/**
	 * Returns the names of the beans that make stores, by the names of the stores.
	 */
	static Map<String, String> factories(ListableBeanFactory beanFactory) {
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

	static LockBackendException refusal(String problem, String remedy) {
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

}
