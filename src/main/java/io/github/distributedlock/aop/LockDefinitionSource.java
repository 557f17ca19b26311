package io.github.distributedlock.aop;

import java.lang.reflect.Method;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.LockRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.ProxyConfig;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.SingletonBeanRegistry;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.core.env.PropertyResolver;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.util.ClassUtils;

/**
 * Knows the definition of each annotated method. A class is resolved and checked as a
 * whole when it is first asked about, which is when the bean is created.
 */
class LockDefinitionSource {

	private final Map<Class<?>, Map<Method, LockDefinition>> definitions = new ConcurrentHashMap<>();

	private final AnnotatedMethods annotatedMethods = new AnnotatedMethods();

	private final StandardEvaluationContext shared = new StandardEvaluationContext();

	private final PropertyResolver properties;

	private final BeanFactory beanFactory;

	LockDefinitionSource(BeanFactory beanFactory, PropertyResolver properties) {
		this.properties = properties;
		this.beanFactory = beanFactory;
		this.shared.setTypeConverter(new KeyTypeConverter());
		this.shared.setBeanResolver(new BeanFactoryResolver(beanFactory));
	}

	/**
	 * Whether a class has annotated methods.
	 * @throws io.github.distributedlock.LockDefinitionException if any of them cannot
	 * work
	 */
	boolean has(Class<?> targetClass) {
		return !in(targetClass).isEmpty();
	}

	/**
	 * The definitions of the annotated methods of a class.
	 * @throws io.github.distributedlock.LockDefinitionException if any of them cannot
	 * work
	 */
	Collection<LockDefinition> of(Class<?> targetClass) {
		return in(targetClass).values();
	}

	/**
	 * The definition of a method.
	 * @param method the method that is called, also one of an interface or a bridge
	 * @param targetClass the class of the object that it is called on
	 * @return the definition, or {@code null} if the method is not annotated
	 */
	@Nullable LockDefinition find(Method method, Class<?> targetClass) {
		Map<Method, LockDefinition> known = in(targetClass);
		LockDefinition definition = known.get(method);
		if (definition == null && !known.isEmpty()) {
			definition = known.get(AopUtils.getMostSpecificMethod(method, targetClass));
			if (definition != null) {
				known.put(method, definition);
			}
		}
		return definition;
	}

	/**
	 * Asks whether a store can serve all methods that were found so far.
	 * @param store throws a {@link io.github.distributedlock.LockBackendException} for a
	 * request that it cannot serve
	 * @throws LockDefinitionException if it cannot for good
	 */
	void require(Consumer<LockRequest> store) {
		this.definitions.forEach((targetClass, known) -> {
			Refusals refusals = new Refusals();
			known.forEach((method, definition) -> {
				try {
					definition.require(store);
				}
				catch (LockDefinitionException ex) {
					refusals.add(definition.annotated().method(), ex);
				}
			});
			refusals.throwIfAny(ClassUtils.getUserClass(targetClass));
		});
	}

	/**
	 * The names of the locks of all methods that were found so far.
	 */
	Set<String> names() {
		return this.definitions.values()
			.stream()
			.flatMap((known) -> known.values().stream())
			.map((definition) -> definition.template().prototype().name())
			.collect(Collectors.toSet());
	}

	/**
	 * Refuses methods without parameters that Spring calls on the bean itself.
	 * @param names their names
	 * @throws LockDefinitionException if one of them carries the annotation
	 */
	void refuseLifecycleMethods(Class<?> targetClass, Set<String> names) {
		for (LockDefinition definition : in(targetClass).values()) {
			Method method = definition.annotated().method();
			if (method.getParameterCount() == 0 && names.contains(method.getName())) {
				MethodRules.refuseLifecycleMethod(definition.annotated(), "an init or destroy method");
			}
		}
	}

	private Map<Method, LockDefinition> in(Class<?> targetClass) {
		Map<Method, LockDefinition> known = this.definitions.get(targetClass);
		if (known == null) {
			known = resolve(ClassUtils.getUserClass(targetClass));
			this.definitions.put(targetClass, known);
		}
		return known;
	}

	private Map<Method, LockDefinition> resolve(Class<?> beanClass) {
		Map<Method, LockDefinition> resolved = Map.of();
		Refusals refusals = new Refusals();
		for (AnnotatedMethod annotated : this.annotatedMethods.of(beanClass, refusals)) {
			if (resolved.isEmpty()) {
				resolved = new ConcurrentHashMap<>();
			}
			try {
				MethodRules.check(annotated, makesSubclasses());
				resolved.put(annotated.method(), LockDefinition.of(annotated, this.properties, this.shared));
			}
			catch (LockDefinitionException ex) {
				refusals.add(annotated.method(), ex);
			}
		}
		refusals.throwIfAny(beanClass);
		return resolved;
	}

	/**
	 * Whether Spring makes each proxy as a subclass, as Spring Boot has it do.
	 */
	private boolean makesSubclasses() {
		return this.beanFactory instanceof SingletonBeanRegistry singletons
				&& singletons.getSingleton(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME) instanceof ProxyConfig creator
				&& creator.isProxyTargetClass();
	}

}
