package io.github.distributedlock.aop;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.annotation.DistributedLock;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationConfigurationException;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds the annotated methods of a class, wherever in its hierarchy the annotation is;
 * also those that no proxy could ever reach, so that they can be refused.
 */
class AnnotatedMethods {

	/**
	 * Whether a type carries the annotation itself, on one of its methods or not at all.
	 * Most classes of an application end their search here.
	 */
	private final Map<Class<?>, Boolean> carriers = new ConcurrentHashMap<>();

	/**
	 * Finds the annotated methods.
	 * @param refusals takes those whose annotation says nothing clear
	 */
	Collection<AnnotatedMethod> of(Class<?> beanClass, Refusals refusals) {
		Set<Class<?>> types = hierarchy(beanClass);
		boolean candidate = false;
		for (Class<?> type : types) {
			candidate |= carries(type);
		}
		return candidate ? find(beanClass, types, refusals) : List.of();
	}

	/*
	 * An annotation on any declaration of a method wins over one on any class, hence two
	 * passes.
	 */
	private Collection<AnnotatedMethod> find(Class<?> beanClass, Set<Class<?>> types, Refusals refusals) {
		Map<Method, AnnotatedMethod> found = new LinkedHashMap<>();
		visit(beanClass, types, (method, specific) -> {
			add(found, refusals, specific, beanClass, specific);
			add(found, refusals, specific, beanClass, method);
		});
		visit(beanClass, types, (method, specific) -> {
			if (Modifier.isPublic(specific.getModifiers()) && !Modifier.isStatic(specific.getModifiers())
					&& !ReflectionUtils.isObjectMethod(specific)) {
				add(found, refusals, specific, beanClass, specific.getDeclaringClass());
				add(found, refusals, specific, beanClass, method.getDeclaringClass());
			}
		});
		return found.values();
	}

	private static void add(Map<Method, AnnotatedMethod> found, Refusals refusals, Method specific, Class<?> beanClass,
			AnnotatedElement element) {
		if (found.containsKey(specific) || refusals.has(specific)) {
			return;
		}
		try {
			AnnotatedMethod annotated = annotated(specific, beanClass, element);
			if (annotated != null) {
				found.put(specific, annotated);
			}
		}
		catch (LockDefinitionException ex) {
			refusals.add(specific, ex);
		}
	}

	private static @Nullable AnnotatedMethod annotated(Method specific, Class<?> beanClass, AnnotatedElement element) {
		MergedAnnotation<DistributedLock> annotation;
		try {
			annotation = MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).get(DistributedLock.class);
		}
		catch (AnnotationConfigurationException ex) {
			throw contradiction(specific, beanClass, element, ex);
		}
		if (!annotation.isPresent()) {
			return null;
		}
		AnnotatedElement declaration = (annotation.getSource() instanceof AnnotatedElement source) ? source : element;
		AnnotatedMethod annotated = new AnnotatedMethod(specific, beanClass, declaration, annotation.synthesize());
		if (MergedAnnotations.from(declaration).stream(DistributedLock.class).count() > 1) {
			throw annotated.refuse(
					"there are several lock annotations on " + declaration + ", of which one would be ignored",
					"write one with several keys");
		}
		return annotated;
	}

	private static LockDefinitionException contradiction(Method specific, Class<?> beanClass, AnnotatedElement element,
			AnnotationConfigurationException ex) {
		String message = String.valueOf(ex.getMessage());
		// The one pair of aliases that the annotation has; others are the user's own.
		String remedy = message.contains("[" + DistributedLock.class.getName() + "]")
				? "key and value are two names of one attribute: write one of them" : null;
		AnnotatedMethod named = new AnnotatedMethod(specific, beanClass, element,
				AnnotationUtils.synthesizeAnnotation(DistributedLock.class));
		return new LockDefinitionException(named + ": the attributes contradict each other: " + message, remedy, ex);
	}

	private static void visit(Class<?> beanClass, Set<Class<?>> types, Visitor visitor) {
		for (Class<?> type : types) {
			for (Method method : ReflectionUtils.getDeclaredMethods(type)) {
				if (!method.isSynthetic()) {
					// The methods of a proxy class are final and say nothing.
					visitor.visit(method,
							Proxy.isProxyClass(beanClass) ? method : AopUtils.getMostSpecificMethod(method, beanClass));
				}
			}
		}
	}

	private static Set<Class<?>> hierarchy(Class<?> beanClass) {
		Set<Class<?>> types = new LinkedHashSet<>();
		if (!Proxy.isProxyClass(beanClass)) {
			for (Class<?> type = beanClass; type != null && type != Object.class; type = type.getSuperclass()) {
				types.add(type);
			}
		}
		types.addAll(ClassUtils.getAllInterfacesForClassAsSet(beanClass));
		return types;
	}

	private boolean carries(Class<?> type) {
		Boolean known = this.carriers.get(type);
		if (known == null) {
			known = !isOfSpring(type) && AnnotationUtils.isCandidateClass(type, DistributedLock.class)
					&& looksAnnotated(type);
			this.carriers.put(type, known);
		}
		return known;
	}

	/*
	 * Most beans of a small application are Spring's own, and reading all their methods
	 * is most of what this class would cost at start-up. Samples are applications.
	 */
	private static boolean isOfSpring(Class<?> type) {
		return type.getName().startsWith("org.springframework.")
				&& !type.getName().startsWith("org.springframework.samples.");
	}

	private static boolean looksAnnotated(Class<?> type) {
		if (AnnotatedElementUtils.isAnnotated(type, DistributedLock.class)) {
			return true;
		}
		for (Method method : ReflectionUtils.getDeclaredMethods(type)) {
			if (AnnotatedElementUtils.isAnnotated(method, DistributedLock.class)) {
				return true;
			}
		}
		return false;
	}

	private interface Visitor {

		void visit(Method method, Method specific);

	}

}
