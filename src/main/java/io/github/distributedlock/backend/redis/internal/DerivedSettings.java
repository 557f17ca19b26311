package io.github.distributedlock.backend.redis.internal;

import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.function.UnaryOperator;

import org.springframework.aop.support.AopUtils;

/**
 * Derives settings from the settings of the application's client.
 */
final class DerivedSettings {

	private DerivedSettings() {
	}

	/**
	 * Overrides some answers of the application's client configuration, by a proxy, since
	 * the methods of the interface differ between the versions of Spring Data.
	 * @param type the interface of the configuration
	 * @param application the configuration of the application
	 * @param answers functions of the answers of the application's configuration, by the
	 * name of the method
	 * @param <C> the type of the configuration
	 * @return the configuration to derive with
	 */
	static <C> C override(Class<C> type, C application, Map<String, UnaryOperator<Object>> answers) {
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
				(self, method, arguments) -> answers.getOrDefault(method.getName(), UnaryOperator.identity())
					.apply(AopUtils.invokeJoinpointUsingReflection(application, method, arguments))));
	}

}
