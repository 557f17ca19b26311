package io.github.distributedlock.aop;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.annotation.DistributedLock;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.ProxyConfig;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.SingletonBeanRegistry;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.env.PropertyResolver;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Knows the definition of each annotated method. A class is resolved and checked as a
 * whole when it is first asked about, which is when the bean is created.
 */
class LockDefinitionSource {

	private final Map<Class<?>, Map<Method, LockDefinition>> definitions = new ConcurrentHashMap<>();

	private final Map<Class<?>, Boolean> annotatedTypes = new ConcurrentHashMap<>();

	private final StandardEvaluationContext shared;

	private final PropertyResolver properties;

	private final BeanFactory beanFactory;

	LockDefinitionSource(BeanFactory beanFactory, PropertyResolver properties) {
		this.properties = properties;
		this.beanFactory = beanFactory;
		this.shared = KeyContext.shared(beanFactory);
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
	 * Checks the definitions of all methods that were found so far.
	 * @throws LockDefinitionException if the check has refused one
	 */
	void forEach(Consumer<LockDefinition> check) {
		this.definitions
			.forEach((targetClass, known) -> checkEach(ClassUtils.getUserClass(targetClass), known.values(), check));
	}

	/**
	 * Says what lock beans there are, where the one of a method cannot be found.
	 */
	LockDefinitionException refuseStore(LockDefinition definition, BeansException failure) {
		String beans = (this.beanFactory instanceof ListableBeanFactory factory) ? Arrays
			.stream(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(factory,
					io.github.distributedlock.DistributedLock.class, true, false))
			.flatMap((name) -> Stream.concat(Stream.of(name), Arrays.stream(factory.getAliases(name))))
			.collect(Collectors.joining(", ")) : "";
		return definition.annotated()
			.refuse("store", definition.store(), "names no single DistributedLock bean: " + failure.getMessage(),
					beans.isEmpty() ? "define a DistributedLock bean"
							: "write one of " + beans + ", or mark one with @Primary as the default",
					failure);
	}

	/**
	 * The request of each method that was found so far, whose keys may only stand for
	 * those of a call.
	 */
	List<LockRequest> requests() {
		return this.definitions.values()
			.stream()
			.flatMap((known) -> known.values().stream())
			.map((definition) -> definition.template().prototype())
			.toList();
	}

	/**
	 * The annotated methods of a class, and their definitions.
	 * @throws LockDefinitionException if any of them cannot work
	 */
	Map<Method, LockDefinition> in(Class<?> targetClass) {
		Map<Method, LockDefinition> known = this.definitions.get(targetClass);
		if (known == null) {
			Class<?> beanClass = ClassUtils.getUserClass(targetClass);
			known = (beanClass != targetClass) ? in(beanClass) : resolve(beanClass);
			this.definitions.put(targetClass, known);
		}
		return known;
	}

	private Map<Method, LockDefinition> resolve(Class<?> beanClass) {
		Map<Method, AnnotatedElement> annotatedElements = annotatedElements(beanClass);
		if (annotatedElements.isEmpty()) {
			return Map.of();
		}
		Map<Method, LockDefinition> resolved = new ConcurrentHashMap<>();
		checkEach(beanClass, annotatedElements.entrySet(), (carrier) -> {
			Method method = carrier.getKey();
			AnnotatedMethod annotated = AnnotatedMethod.of(method, beanClass, carrier.getValue());
			MethodRules.check(annotated, makesSubclasses());
			resolved.put(method, LockDefinition.of(annotated, this.properties, this.shared));
		});
		return resolved;
	}

	/**
	 * Goes through all of a class, and throws what is wrong at once: one mistake as it
	 * is, several as one that lists them.
	 */
	private static <T> void checkEach(Class<?> beanClass, Collection<T> all, Consumer<T> check) {
		// The JVM gives methods in any order.
		Map<String, LockDefinitionException> refusals = new TreeMap<>();
		for (T each : all) {
			try {
				check.accept(each);
			}
			catch (LockDefinitionException ex) {
				refusals.put(String.valueOf(ex.getMessage()), ex);
			}
		}
		if (refusals.size() == 1) {
			throw refusals.values().iterator().next();
		}
		if (!refusals.isEmpty()) {
			LockDefinitionException together = new LockDefinitionException(refusals.size() + " lock annotations of "
					+ beanClass.getName() + " cannot work:\n" + String.join("\n", refusals.keySet()), null, null);
			refusals.values().forEach(together::addSuppressed);
			throw together;
		}
	}

	/**
	 * The methods that are annotated, wherever in the hierarchy of their class the
	 * annotation is, and what carries it; also those that no proxy could ever reach, so
	 * that they can be refused. An annotation on any declaration of a method wins over
	 * one on any class.
	 */
	private Map<Method, AnnotatedElement> annotatedElements(Class<?> beanClass) {
		Set<Class<?>> types = new LinkedHashSet<>();
		boolean proxy = Proxy.isProxyClass(beanClass);
		for (Class<?> type = beanClass; !proxy && type != null && type != Object.class; type = type.getSuperclass()) {
			types.add(type);
		}
		types.addAll(ClassUtils.getAllInterfacesForClassAsSet(beanClass));
		if (types.stream().noneMatch(this::isAnnotated)) {
			return Map.of();
		}
		Map<Method, AnnotatedElement> found = new LinkedHashMap<>();
		Map<Method, AnnotatedElement> onTypes = new LinkedHashMap<>();
		for (Class<?> type : types) {
			for (Method method : ReflectionUtils.getDeclaredMethods(type)) {
				// The methods of a proxy class are final and say nothing.
				Method specific = proxy ? method : AopUtils.getMostSpecificMethod(method, beanClass);
				if (!method.isSynthetic()) {
					put(found, specific, specific, method);
				}
				if (!method.isSynthetic() && Modifier.isPublic(specific.getModifiers())
						&& !Modifier.isStatic(specific.getModifiers()) && !ReflectionUtils.isObjectMethod(specific)) {
					put(onTypes, specific, specific.getDeclaringClass(), method.getDeclaringClass());
				}
			}
		}
		onTypes.forEach(found::putIfAbsent);
		return found;
	}

	private static void put(Map<Method, AnnotatedElement> found, Method method, AnnotatedElement... elements) {
		for (AnnotatedElement element : elements) {
			if (!found.containsKey(method) && MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY)
				.isPresent(DistributedLock.class)) {
				found.put(method, element);
			}
		}
	}

	/**
	 * Whether a type carries the annotation, itself or on one of its methods. Most beans
	 * of a small application are Spring's own, and reading all their methods is most of
	 * what this class would cost at start-up. Samples are applications.
	 */
	private boolean isAnnotated(Class<?> type) {
		String name = type.getName();
		boolean ofSpring = name.startsWith("org.springframework.") && !name.startsWith("org.springframework.samples.");
		return !ofSpring && this.annotatedTypes.computeIfAbsent(type, (any) -> AnnotationUtils.isCandidateClass(type,
				DistributedLock.class)
				&& (AnnotatedElementUtils.isAnnotated(type, DistributedLock.class)
						|| Arrays.stream(ReflectionUtils.getDeclaredMethods(type))
							.anyMatch((method) -> AnnotatedElementUtils.isAnnotated(method, DistributedLock.class))));
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
