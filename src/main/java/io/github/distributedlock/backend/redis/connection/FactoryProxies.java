package io.github.distributedlock.backend.redis.connection;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.TargetSource;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.target.AbstractBeanFactoryBasedTargetSource;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.util.ReflectionUtils;

/**
 * Looks behind the proxies of a connection factory. The proxy of a class has fields of
 * its own, which know nothing of the servers that its target leads to.
 */
final class FactoryProxies {

	private static final Set<String> CONNECTIONS = Set.of("getConnection", "getClusterConnection");

	private FactoryProxies() {
	}

	/**
	 * Looks for the factory behind a proxy, and behind a proxy of a proxy.
	 * @param factory the application's factory
	 * @return the one that it always leads to; the innermost proxy if that may change
	 */
	static RedisConnectionFactory unwrap(RedisConnectionFactory factory) {
		RedisConnectionFactory inner = factory;
		while (inner instanceof Advised proxy && isFixed(proxy.getTargetSource())
				&& target(proxy) instanceof RedisConnectionFactory target) {
			inner = target;
		}
		return inner;
	}

	// The target of a scoped proxy, say, is another one for each request, or after a
	// refresh, but for that of a singleton.
	private static boolean isFixed(TargetSource source) {
		return source.isStatic() || (source instanceof AbstractBeanFactoryBasedTargetSource bean
				&& bean.getBeanFactory().isSingleton(bean.getTargetBeanName()));
	}

	private static @Nullable Object target(Advised proxy) {
		try {
			return proxy.getTargetSource().getTarget();
		}
		catch (Exception ex) {
			throw new IllegalStateException("The target of the connection factory's proxy cannot be had", ex);
		}
	}

	/**
	 * Whether a factory leads where its own settings say.
	 * @param factory a factory that is no proxy, as far as that can be told
	 * @param type the class of Spring Data
	 * @return {@code false} if a subclass gives out other connections, such as those of a
	 * delegate, or has a part in how they are opened
	 */
	static boolean isGenuine(RedisConnectionFactory factory, Class<? extends RedisConnectionFactory> type) {
		return type.isInstance(factory) && (factory.getClass() == type || Stream.of(type.getDeclaredMethods())
			.filter((method) -> Modifier.isProtected(method.getModifiers()) || CONNECTIONS.contains(method.getName()))
			.allMatch((method) -> type.equals(declaring(factory.getClass(), method))));
	}

	private static @Nullable Class<?> declaring(Class<?> type, Method method) {
		Method found = ReflectionUtils.findMethod(type, method.getName(), method.getParameterTypes());
		return (found != null) ? found.getDeclaringClass() : null;
	}

}
