package io.github.distributedlock.aop;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;

import io.github.distributedlock.annotation.DistributedLock;

import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.convert.support.DefaultConversionService;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.PropertySourcesPropertyResolver;
import org.springframework.util.ReflectionUtils;

/**
 * Makes definitions of annotations that stand in the table of a test, and not on a
 * method.
 */
final class Definitions {

	private Definitions() {
	}

	/**
	 * Defines the lock of a method, as a context does when the bean is created.
	 * @param type the class, with one method of that name
	 * @param attributes the attributes of the annotation
	 * @param properties what placeholders stand for
	 * @param beans the beans that keys may name
	 */
	static LockDefinition of(Class<?> type, String method, Map<String, Object> attributes,
			Map<String, Object> properties, Map<String, Object> beans) {
		Method declared = Stream.of(type.getDeclaredMethods())
			.filter((each) -> each.getName().equals(method))
			.findFirst()
			.orElseThrow();
		MutablePropertySources sources = new MutablePropertySources();
		sources.addFirst(new MapPropertySource("test", properties));
		return LockDefinition.of(
				new AnnotatedMethod(declared, type, declared,
						AnnotationUtils.synthesizeAnnotation(attributes, DistributedLock.class, null)),
				new PropertySourcesPropertyResolver(sources), KeyContext.shared(new StaticListableBeanFactory(beans)));
	}

	/**
	 * Defines the lock of a method by the key alone.
	 */
	static LockDefinition ofKey(Class<?> type, String method, String key, Map<String, Object> properties) {
		return of(type, method, Map.of("key", new String[] { key }), properties, Map.of());
	}

	/**
	 * Defines the lock of a method by attributes as {@code name=value, name=value}.
	 */
	static LockDefinition of(Class<?> type, String method, String written, Map<String, Object> properties) {
		Map<String, Object> attributes = new HashMap<>();
		for (String each : written.isEmpty() ? new String[0] : written.split(", ")) {
			String[] pair = each.split("=", 2);
			Class<?> kind = ReflectionUtils.findMethod(DistributedLock.class, pair[0]).getReturnType();
			attributes.put(pair[0], DefaultConversionService.getSharedInstance().convert(pair[1], kind));
		}
		return of(type, method, attributes, properties, Map.of());
	}

}
