package io.github.distributedlock.backend.redis.connection;

import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.function.UnaryOperator;

import org.springframework.aop.support.AopUtils;

/**
 * The settings of the application's client, but for some.
 */
final class DerivedSettings {

	private DerivedSettings() {
	}

	/**
	 * Overrides some answers of the application's client configuration, by a proxy, since
	 * the methods of the interface differ between the versions of Spring Data.
	 * @param type the interface of the configuration
	 * @param application the application's
	 * @param answers from the name of a method to what becomes of its answer
	 * @param <C> the type of the configuration
	 * @return the configuration to derive with
	 */
	static <C> C override(Class<C> type, C application, Map<String, UnaryOperator<Object>> answers) {
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
				(self, method, arguments) -> answers.getOrDefault(method.getName(), UnaryOperator.identity())
					.apply(AopUtils.invokeJoinpointUsingReflection(application, method, arguments))));
	}

}
