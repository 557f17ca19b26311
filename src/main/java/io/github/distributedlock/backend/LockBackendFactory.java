package io.github.distributedlock.backend;

import java.time.Duration;
import java.util.Map;

/**
 * Makes a store for an application of Spring Boot. A bean of this type can be named in
 * {@code distributed-lock.backend}: by its own name, or without the end
 * {@code LockBackendFactory} of that name, so that {@code files} names the bean
 * {@code filesLockBackendFactory}. Asked once, and only if it is named.
 *
 * @since 1.0
 */
@FunctionalInterface
public interface LockBackendFactory {

	/**
	 * Makes the store. The engine starts, checks and closes it.
	 * @param settings what the application has set
	 * @return the store
	 * @throws IllegalArgumentException if a setting cannot be used; stops the application
	 */
	LockBackend create(Settings settings);

	/**
	 * What an application has set. Made by the library; further methods may come.
	 */
	interface Settings {

		/**
		 * The time after which the locks of a dead JVM expire, which is the longest lease
		 * that is renewed. A command should take less than a fifth of it.
		 * @return the value of {@code distributed-lock.watchdog-timeout}
		 */
		Duration watchdogTimeout();

		/**
		 * The settings of this store.
		 * @return the properties below {@code distributed-lock.stores.NAME}, as they are
		 * written, by their names in kebab-case or camel case
		 */
		Map<String, String> values();

	}

}
