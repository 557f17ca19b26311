package io.github.distributedlock.aop;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.lang.reflect.WildcardType;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.annotation.DistributedLock;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.Advised;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.SmartFactoryBean;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.DecoratingProxy;
import org.springframework.core.GenericTypeResolver;
import org.springframework.core.KotlinDetector;
import org.springframework.core.KotlinReflectionParameterNameDiscoverer;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotationConfigurationException;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.env.PropertyResolver;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * A method with its annotation, and the names of both in messages.
 *
 * @param method the method that runs: the implementation, where there is one
 * @param beanClass the class of the bean, not of its proxy
 * @param declaration the element that carries the annotation: this method, a method that
 * it overrides, or a class
 * @param annotation the annotation with its aliases resolved
 */
record AnnotatedMethod(Method method, Class<?> beanClass, AnnotatedElement declaration, DistributedLock annotation) {

	/**
	 * Finds the annotation of a method wherever {@code @Transactional} would be found: on
	 * any declaration of the method, or else on a type. The annotation nearest to the
	 * method that runs wins.
	 * @param specific the method that is run
	 * @param declarations the declarations of that method in the class and above, the
	 * nearest first
	 * @return the method, or {@code null} if no annotation is found
	 * @throws LockDefinitionException if there are several annotations, or the attributes
	 * of one contradict each other
	 */
	static @Nullable AnnotatedMethod find(Method specific, Set<Method> declarations, Class<?> beanClass) {
		// The methods of a proxy class are final, and have no names of parameters.
		Method method = Proxy.isProxyClass(specific.getDeclaringClass())
				? BridgeMethodResolver.findBridgedMethod(declarations.iterator().next()) : specific;
		try {
			List<AnnotatedElement> carriers = carriers(Stream.concat(Stream.of(specific), declarations.stream()));
			AnnotatedElement own = specific;
			if (carriers.isEmpty() && isCoveredByItsType(method, beanClass)) {
				own = specific.getDeclaringClass();
				carriers = carriers(declarations.stream().map(Method::getDeclaringClass));
				if (carriers.isEmpty()) {
					carriers = carriers(Stream.of(own));
				}
			}
			return carriers.isEmpty() ? null
					: read(method, beanClass, carriers.contains(own) ? List.of(own) : nearest(carriers));
		}
		catch (AnnotationConfigurationException ex) {
			AnnotatedMethod named = new AnnotatedMethod(method, beanClass, method,
					AnnotationUtils.synthesizeAnnotation(DistributedLock.class));
			throw new LockDefinitionException(named + ": the attributes contradict each other: " + ex.getMessage(),
					"aliases are names of one attribute: write one of them", ex);
		}
	}

	private static AnnotatedMethod read(Method method, Class<?> beanClass, List<AnnotatedElement> carriers) {
		List<DistributedLock> annotations = carriers.stream()
			.flatMap((carrier) -> MergedAnnotations.from(carrier).stream(DistributedLock.class))
			.map(MergedAnnotation::synthesize)
			.toList();
		AnnotatedMethod annotated = new AnnotatedMethod(method, beanClass, carriers.get(0), annotations.get(0));
		if (annotations.size() > carriers.size() || annotations.stream().distinct().count() > 1) {
			throw annotated.refuse(
					"there are several lock annotations on "
							+ carriers.stream().map(Object::toString).collect(Collectors.joining(" and on "))
							+ ", of which one would be ignored",
					(carriers.size() == 1) ? "write one with several keys"
							: "write the one that counts on the method itself, below the others");
		}
		return annotated;
	}

	/**
	 * Returns the elements that carry the annotation: some of the given elements, or
	 * declarations above them.
	 */
	private static List<AnnotatedElement> carriers(Stream<? extends AnnotatedElement> elements) {
		return elements.flatMap((element) -> MergedAnnotations.from(element, SearchStrategy.TYPE_HIERARCHY)
			.stream(DistributedLock.class)
			.<AnnotatedElement>map((found) -> (found.getSource() instanceof Method bridge)
					? BridgeMethodResolver.findBridgedMethod(bridge)
					: (found.getSource() instanceof Class<?> type) ? type : element))
			.distinct()
			.toList();
	}

	/**
	 * Returns the carriers that no other carrier in a subtype overrides.
	 */
	private static List<AnnotatedElement> nearest(List<AnnotatedElement> carriers) {
		return carriers.stream().filter((carrier) -> carriers.stream().map(AnnotatedMethod::type).noneMatch((other) -> {
			Class<?> type = type(carrier);
			return type != other && type.isAssignableFrom(other);
		})).toList();
	}

	private static Class<?> type(AnnotatedElement carrier) {
		return (carrier instanceof Method method) ? method.getDeclaringClass() : (Class<?>) carrier;
	}

	/**
	 * Returns whether an annotation on a type covers a method: each public method, and
	 * each other method that a proxy can intercept.
	 */
	private static boolean isCoveredByItsType(Method method, Class<?> beanClass) {
		int modifiers = method.getModifiers();
		boolean visible = Modifier.isPublic(modifiers) || (!Modifier.isFinal(modifiers)
				&& (Modifier.isProtected(modifiers) || isInPackageOf(method, beanClass)));
		return visible && (modifiers & (Modifier.STATIC | Modifier.PRIVATE)) == 0
				&& !ReflectionUtils.isObjectMethod(method) && ClassUtils.isUserLevelMethod(method)
				&& !isOfFactory(method, beanClass);
	}

	/**
	 * Returns whether a method is one by which Spring gets the product of a factory, or
	 * learns about the product.
	 */
	static boolean isOfFactory(Method method, Class<?> beanClass) {
		return FactoryBean.class.isAssignableFrom(beanClass) && ClassUtils.hasMethod(SmartFactoryBean.class, method);
	}

	static boolean isInPackageOf(Method method, Class<?> beanClass) {
		return method.getDeclaringClass().getPackageName().equals(beanClass.getPackageName());
	}

	/**
	 * Returns the classes and interfaces that may declare methods of a bean, the nearest
	 * first. The methods of a proxy class itself say nothing that its interfaces do not.
	 */
	static Set<Class<?>> types(Class<?> beanClass) {
		Set<Class<?>> types = new LinkedHashSet<>();
		boolean proxy = Proxy.isProxyClass(beanClass);
		for (Class<?> type = beanClass; !proxy && type != null && type != Object.class; type = type.getSuperclass()) {
			types.add(type);
		}
		for (Class<?> type = beanClass; type != null; type = type.getSuperclass()) {
			addInterfaces(types, type);
		}
		return types;
	}

	private static void addInterfaces(Set<Class<?>> types, Class<?> type) {
		for (Class<?> each : type.getInterfaces()) {
			// Spring answers for the interfaces of its proxies before any advice.
			if (!each.isAssignableFrom(Advised.class) && each != DecoratingProxy.class && types.add(each)) {
				addInterfaces(types, each);
			}
		}
	}

	/**
	 * Returns the class by which a person and another JVM know this bean. Names of
	 * proxies and lambdas are made up when the program runs.
	 */
	Class<?> namedClass() {
		if (!Proxy.isProxyClass(this.beanClass) && !this.beanClass.isHidden()) {
			return this.beanClass;
		}
		Class<?> declaring = type(this.declaration);
		return Arrays.stream(this.beanClass.getInterfaces())
			.filter(declaring::isAssignableFrom)
			.<Class<?>>map((type) -> type)
			.findFirst()
			.orElse(declaring);
	}

	/**
	 * Returns the name of the method in the source. Kotlin puts the name of the module
	 * behind the name of an internal function, and JVMs in which the module was renamed
	 * would have another lock.
	 */
	String name() {
		String name = this.method.getName();
		int module = KotlinDetector.isKotlinType(this.method.getDeclaringClass()) ? name.indexOf('$') : -1;
		return (module > 0) ? name.substring(0, module) : name;
	}

	String shortName() {
		Class<?> type = namedClass();
		String simple = type.getSimpleName();
		return (simple.isEmpty() ? ClassUtils.getShortName(type) : simple) + "." + name();
	}

	Class<?> resultType() {
		return GenericTypeResolver.resolveReturnType(this.method, this.beanClass);
	}

	/**
	 * Returns whether a method is a {@code suspend} function, also in the eyes of Spring,
	 * which asks Kotlin how to call the method.
	 */
	static boolean isSuspending(Method method) {
		return KotlinDetector.isSuspendingFunction(method) && KotlinDetector.isKotlinType(method.getDeclaringClass());
	}

	ResolvableType result() {
		return result(this.method, this.beanClass);
	}

	/**
	 * Returns the type of a method's result; for a {@code suspend} function, the type of
	 * the value that the continuation gets.
	 */
	static ResolvableType result(Method method, Class<?> beanClass) {
		if (!isSuspending(method)) {
			return ResolvableType.forMethodReturnType(method, beanClass);
		}
		ResolvableType given = ResolvableType.forMethodParameter(method, method.getParameterCount() - 1, beanClass)
			.getGeneric(0);
		// The continuation is declared as Continuation<? super T>: T is the lower bound.
		return (given.getType() instanceof WildcardType wildcard && wildcard.getLowerBounds().length > 0)
				? ResolvableType.forType(wildcard.getLowerBounds()[0], given) : given;
	}

	/**
	 * Replaces <code>${…}</code> in an attribute, and nothing else: the bean factory's
	 * embedded value resolver would evaluate <code>#{…}</code> as well, and make a key
	 * out of nothing.
	 * @param written the whole attribute, for messages
	 * @param part the part of the attribute to resolve
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

	/**
	 * Returns the method's name and the types of the parameters, as the source has them.
	 */
	static String signature(Method method) {
		return method.getName() + Arrays.stream(parameterTypes(method))
			.map(Class::getSimpleName)
			.collect(Collectors.joining(", ", "(", ")"));
	}

	/**
	 * Returns whether the source has a method. Kotlin makes overloads for
	 * {@code @JvmOverloads}, which are final and carry the annotations, but call the
	 * method of the source on the proxy.
	 */
	static boolean isInSource(Method method) {
		String defaults = method.getName() + "$default"; // Kotlin's name.
		return !method.isSynthetic()
				&& !(Modifier.isFinal(method.getModifiers()) && KotlinDetector.isKotlinReflectPresent()
						&& Stream.of(ReflectionUtils.getDeclaredMethods(method.getDeclaringClass()))
							.anyMatch((other) -> other.getName().equals(defaults))
						&& new KotlinReflectionParameterNameDiscoverer().getParameterNames(method) == null);
	}

	/**
	 * Returns the types of the parameters, without the continuation of a {@code suspend}
	 * function.
	 */
	static Class<?>[] parameterTypes(Method method) {
		Class<?>[] types = method.getParameterTypes();
		return isSuspending(method) ? Arrays.copyOf(types, types.length - 1) : types;
	}

}
