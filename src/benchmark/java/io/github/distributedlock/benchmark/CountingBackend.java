package io.github.distributedlock.benchmark;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;

import io.github.distributedlock.backend.LockBackend;

/**
 * Counts how often the store is asked for a lock that this JVM does not have. To pass on
 * what it has is no attempt.
 */
final class CountingBackend {

	private static final Set<String> ATTEMPTS = Set.of("acquire", "acquireOrRegister", "acquireAll");

	private final LongAdder attempts = new LongAdder();

	private final LockBackend backend;

	/**
	 * Creates one. A proxy, so that nothing is forgotten that the backend adds.
	 * @param backend what to count on
	 */
	CountingBackend(LockBackend backend) {
		this.backend = (LockBackend) Proxy.newProxyInstance(LockBackend.class.getClassLoader(),
				backend.getClass().getInterfaces(), (proxy, method, arguments) -> {
					if (ATTEMPTS.contains(method.getName())) {
						this.attempts.increment();
					}
					try {
						return method.invoke(backend, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getCause();
					}
				});
	}

	LockBackend backend() {
		return this.backend;
	}

	long attempts() {
		return this.attempts.sum();
	}

}
