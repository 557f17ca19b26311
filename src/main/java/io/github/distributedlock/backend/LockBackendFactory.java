package io.github.distributedlock.backend;

import java.time.Duration;
import java.util.Map;

/**
 * Makes a store for an application of Spring Boot. A bean of this type can be named in
 * {@code distributed-lock.backend}: by its own name, or without the end
 * {@code LockBackendFactory} of that name, so that {@code files} names the bean
 * {@code filesLockBackendFactory}. The factory is asked once, and only if named.
 *
 * @since 1.0
 */
@FunctionalInterface
public interface LockBackendFactory {

	/**
	 * Makes the store. The engine starts, checks and closes the store.
	 * @param settings the settings of the application
	 * @return the store
	 * @throws IllegalArgumentException if a setting cannot be used; stops the application
	 */
	LockBackend create(Settings settings);

	/**
	 * The settings of an application. The library implements this interface; further
	 * methods may come.
	 */
	interface Settings {

		/**
		 * Returns the time after which the locks of a dead JVM expire, which is the
		 * longest lease that is renewed. A command should take less than a fifth of that
		 * time.
		 * @return the value of {@code distributed-lock.watchdog-timeout}
		 */
		Duration watchdogTimeout();

		/**
		 * Returns the settings of this store.
		 * @return the properties below {@code distributed-lock.stores.NAME}, as they are
		 * written, by their names in kebab-case or camel case
		 */
		Map<String, String> values();

	}

}
