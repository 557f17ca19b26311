package io.github.distributedlock.autoconfigure;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.util.ClassUtils;

/**
 * The methods without parameters that Spring calls on a bean itself, and not on its
 * proxy, because the bean's definition says so or because they are called close.
 */
final class LifecycleMethods {

	private static final String CLOSE = "close";

	private LifecycleMethods() {
	}

	static Set<String> of(RootBeanDefinition definition, Class<?> type) {
		String[] init = definition.getInitMethodNames();
		Set<String> names = (init != null) ? new HashSet<>(List.of(init)) : new HashSet<>();
		if (!definition.isPrototype()) {
			String[] destroy = definition.getDestroyMethodNames();
			if (destroy != null) {
				names.addAll(List.of(destroy));
			}
			boolean inferred = names.remove(AbstractBeanDefinition.INFER_METHOD);
			boolean closeable = AutoCloseable.class.isAssignableFrom(type);
			if ((inferred || (destroy == null && closeable)) && !DisposableBean.class.isAssignableFrom(type)) {
				names.add(inferred(type, closeable));
			}
		}
		return names;
	}

	private static String inferred(Class<?> type, boolean closeable) {
		return (closeable || ClassUtils.hasMethod(type, CLOSE)) ? CLOSE : "shutdown";
	}

}
