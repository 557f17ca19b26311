package io.github.distributedlock.backend.redis.connection;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * The application's client configuration with some answers changed. A proxy, since the
 * methods of the interface differ between the versions of Spring Data.
 */
final class ClientSettings {

	private ClientSettings() {
	}

	/**
	 * Overrides some answers of a configuration.
	 * @param type the interface of the configuration
	 * @param application the application's
	 * @param answers from the name of a method to what becomes of its answer
	 * @param <C> the type of the configuration
	 * @return the configuration to derive with
	 */
	static <C> C override(Class<C> type, C application, Map<String, UnaryOperator<Object>> answers) {
		Object proxy = Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
				(self, method, arguments) -> {
					try {
						Object answer = method.invoke(application, arguments);
						UnaryOperator<Object> change = answers.get(method.getName());
						return (change != null) ? change.apply(answer) : answer;
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
		return type.cast(proxy);
	}

}
