package io.github.distributedlock.aop;

import java.lang.reflect.Method;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.github.distributedlock.LockDefinitionException;

/**
 * The mistakes in the annotations of one class, which are told all at once.
 */
final class Refusals {

	private final Map<Method, LockDefinitionException> refusals = new HashMap<>();

	void add(Method method, LockDefinitionException refusal) {
		this.refusals.put(method, refusal);
	}

	boolean has(Method method) {
		return this.refusals.containsKey(method);
	}

	/**
	 * Throws if there are any: one as it is, several as one that lists them.
	 */
	void throwIfAny(Class<?> beanClass) {
		// The JVM gives methods in any order.
		List<LockDefinitionException> sorted = this.refusals.values()
			.stream()
			.sorted(Comparator.comparing(Refusals::message))
			.toList();
		if (sorted.size() == 1) {
			throw sorted.get(0);
		}
		if (!sorted.isEmpty()) {
			throw together(beanClass, sorted);
		}
	}

	private static LockDefinitionException together(Class<?> beanClass, Collection<LockDefinitionException> refusals) {
		LockDefinitionException together = new LockDefinitionException(
				refusals.stream()
					.map(Refusals::message)
					.collect(Collectors.joining("\n",
							refusals.size() + " lock annotations of " + beanClass.getName() + " cannot work:\n", "")),
				null, null);
		refusals.forEach(together::addSuppressed);
		return together;
	}

	private static String message(LockDefinitionException refusal) {
		return String.valueOf(refusal.getMessage());
	}

}
