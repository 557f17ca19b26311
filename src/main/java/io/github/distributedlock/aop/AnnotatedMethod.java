package io.github.distributedlock.aop;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.lang.reflect.WildcardType;
import java.util.Arrays;
import java.util.stream.Collectors;

import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.annotation.DistributedLock;
import org.jspecify.annotations.Nullable;

import org.springframework.core.GenericTypeResolver;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotationConfigurationException;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.env.PropertyResolver;
import org.springframework.util.ClassUtils;

/**
 * A method with its annotation, and how both are called in a message.
 *
 * @param method the method that runs: the implementation, where there is one
 * @param beanClass the class of the bean, not of its proxy
 * @param declaration what carries the annotation: this method, one that it overrides, or
 * a class
 * @param annotation the annotation with its aliases resolved
 */
record AnnotatedMethod(Method method, Class<?> beanClass, AnnotatedElement declaration, DistributedLock annotation) {

	/**
	 * Reads an annotation.
	 * @param element what it was found on, or on what is above that
	 * @throws LockDefinitionException if it says nothing clear
	 */
	static AnnotatedMethod of(Method method, Class<?> beanClass, AnnotatedElement element) {
		MergedAnnotation<DistributedLock> annotation;
		try {
			annotation = MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY).get(DistributedLock.class);
		}
		catch (AnnotationConfigurationException ex) {
			AnnotatedMethod named = new AnnotatedMethod(method, beanClass, element,
					AnnotationUtils.synthesizeAnnotation(DistributedLock.class));
			throw new LockDefinitionException(named + ": the attributes contradict each other: " + ex.getMessage(),
					"aliases are names of one attribute: write one of them", ex);
		}
		AnnotatedElement declaration = (annotation.getSource() instanceof AnnotatedElement source) ? source : element;
		AnnotatedMethod annotated = new AnnotatedMethod(method, beanClass, declaration, annotation.synthesize());
		if (MergedAnnotations.from(declaration).stream(DistributedLock.class).count() > 1) {
			throw annotated.refuse(
					"there are several lock annotations on " + declaration + ", of which one would be ignored",
					"write one with several keys");
		}
		return annotated;
	}

	/**
	 * The class that a person and another JVM know this bean by. Proxies and lambdas have
	 * names that are made up when the program runs.
	 */
	Class<?> namedClass() {
		if (!Proxy.isProxyClass(this.beanClass) && !this.beanClass.isHidden()) {
			return this.beanClass;
		}
		return (this.declaration instanceof Method method) ? method.getDeclaringClass() : (Class<?>) this.declaration;
	}

	String shortName() {
		Class<?> type = namedClass();
		String simple = type.getSimpleName();
		return (simple.isEmpty() ? ClassUtils.getShortName(type) : simple) + "." + this.method.getName();
	}

	Class<?> resultType() {
		return GenericTypeResolver.resolveReturnType(this.method, this.beanClass);
	}

	/**
	 * Whether a method is a {@code suspend} function, also in the eyes of Spring, which
	 * asks Kotlin how to call it.
	 */
	static boolean isSuspending(Method method) {
		return KotlinDetector.isSuspendingFunction(method) && KotlinDetector.isKotlinType(method.getDeclaringClass());
	}

	/**
	 * What it returns; of a {@code suspend} function what it gives to its continuation.
	 */
	ResolvableType result() {
		if (!isSuspending(this.method)) {
			return ResolvableType.forMethodReturnType(this.method, this.beanClass);
		}
		ResolvableType given = ResolvableType
			.forMethodParameter(this.method, this.method.getParameterCount() - 1, this.beanClass)
			.getGeneric(0);
		// It is declared as that or what is above it.
		return (given.getType() instanceof WildcardType wildcard && wildcard.getLowerBounds().length > 0)
				? ResolvableType.forType(wildcard.getLowerBounds()[0], given) : given;
	}

	/**
	 * Replaces <code>${…}</code> in an attribute, and nothing else: the bean factory's
	 * embedded value resolver would evaluate <code>#{…}</code> as well, and make a key
	 * out of nothing.
	 * @param written what is written
	 * @param part the part of it to resolve
	 */
	String resolve(String attribute, String written, String part, PropertyResolver properties) {
		try {
			return properties.resolveRequiredPlaceholders(part);
		}
		catch (IllegalArgumentException ex) {
			throw refuse(attribute, written, "has a placeholder that cannot be resolved (" + ex.getMessage() + ")",
					"define the property, or write a default, ${name:default}", ex);
		}
	}

	LockDefinitionException refuse(String problem, @Nullable String remedy) {
		return new LockDefinitionException(this + ": " + problem, remedy, null);
	}

	LockDefinitionException refuse(String attribute, Object value, String problem, @Nullable String remedy) {
		return refuse(attribute, value, problem, remedy, null);
	}

	LockDefinitionException refuse(String attribute, Object value, String problem, @Nullable String remedy,
			@Nullable Throwable cause) {
		return new LockDefinitionException(describe(attribute, value) + " " + problem, remedy, cause);
	}

	String describe(String attribute, Object value) {
		return this + ": " + attribute + " = " + ((value instanceof String) ? "\"" + value + "\"" : value);
	}

	@Override
	public String toString() {
		return "@DistributedLock on " + namedClass().getName() + "." + signature(this.method);
	}

	static String signature(Method method) {
		return method.getName() + Arrays.stream(method.getParameterTypes())
			.map(Class::getSimpleName)
			.collect(Collectors.joining(", ", "(", ")"));
	}

}
