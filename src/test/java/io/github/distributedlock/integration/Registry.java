package io.github.distributedlock.integration;

import java.time.Duration;
import java.util.stream.Stream;

import io.github.distributedlock.DistributedLock;

import org.springframework.beans.BeanUtils;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.util.ClassUtils;

/**
 * Our registries, for tests of what Spring Integration does with each.
 */
enum Registry {

	PLAIN, RENEWABLE;

	@SuppressWarnings("rawtypes")
	LockRegistry of(DistributedLock lock) {
		if (this == PLAIN) {
			return new DistributedLockRegistry(lock);
		}
		// By name: with Spring Integration 6 nothing that refers to the type compiles.
		Class<?> type = ClassUtils
			.resolveClassName(Registry.class.getPackageName() + ".RenewableDistributedLockRegistry", null);
		return (LockRegistry) BeanUtils.instantiateClass(
				ClassUtils.getConstructorIfAvailable(type, DistributedLock.class, Duration.class), lock,
				Duration.ofSeconds(30));
	}

	/**
	 * Returns the registries that this Spring Integration can have.
	 */
	static Stream<Registry> all() {
		return ClassUtils.isPresent("org.springframework.integration.support.locks.DistributedLock", null)
				? Stream.of(values()) : Stream.of(PLAIN);
	}

}
