package io.github.distributedlock.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.annotation.IfBusy;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.KotlinDetector;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The method that is called instead of a method whose lock could not be acquired.
 *
 * @param method the fallback method
 * @param cause the type of the failure that the last parameter takes, or {@code null} if
 * there is no such parameter
 */
record FallbackMethod(Method method, @Nullable Class<?> cause) {

	private static final List<Class<?>> CAUSES = List.of(LockNotAcquiredException.class, LockBackendException.class,
			LockException.class);

	static @Nullable FallbackMethod of(AnnotatedMethod annotated) {
		String name = annotated.annotation().fallback();
		if (name.isEmpty()) {
			return null;
		}
		if (annotated.annotation().ifBusy() == IfBusy.SKIP) {
			throw refuse(annotated, "cannot be together with ifBusy = SKIP", "leave one of them out");
		}
		// Of an overridden method and its override, only the override counts.
		List<Method> named = Arrays.stream(ReflectionUtils.getUniqueDeclaredMethods(annotated.beanClass()))
			.filter((method) -> isNamed(method, name) && AnnotatedMethod.isInSource(method))
			.toList();
		List<Method> fitting = named.stream().filter((candidate) -> fits(candidate, annotated.method())).toList();
		if (fitting.size() != 1) {
			throw refuseUnfit(annotated, named, fitting);
		}
		Method method = fitting.get(0);
		if (MergedAnnotations.from(method, SearchStrategy.TYPE_HIERARCHY).isPresent(DistributedLock.class)) {
			throw refuse(annotated,
					"has a lock annotation of its own, but is called on the bean itself, so that it would"
							+ " run without that lock",
					"lock in code there, or call the method of another bean");
		}
		checkOutcome(annotated, method);
		Class<?>[] offered = AnnotatedMethod.parameterTypes(method);
		boolean takesCause = method.getParameterCount() > annotated.method().getParameterCount();
		return new FallbackMethod(method, takesCause ? offered[offered.length - 1] : null);
	}

	private static RuntimeException refuseUnfit(AnnotatedMethod annotated, List<Method> named, List<Method> fitting) {
		String name = annotated.annotation().fallback();
		String remedy = "write one " + (AnnotatedMethod.isSuspending(annotated.method()) ? "suspend function " : "")
				+ name + " with the parameters of " + AnnotatedMethod.signature(annotated.method())
				+ ", and optionally one more of LockNotAcquiredException, LockBackendException or LockException";
		if (named.isEmpty() && Proxy.isProxyClass(annotated.beanClass())) {
			return refuse(annotated,
					"fits no method of the interfaces of the bean, which is a proxy, so that its class is hidden",
					remedy + ", in the interface; or, if the class has it, set spring.aop.proxy-target-class=true");
		}
		if (annotated.declaration() instanceof Class && named.contains(annotated.method())) {
			return refuse(annotated, "is the name of the method itself, which the annotation of its type covers",
					"let the fallback be private");
		}
		String others = named.isEmpty() ? "" : "; there is " + signatures(named);
		return refuse(annotated,
				fitting.isEmpty() ? "fits no method" + others : "fits several methods " + signatures(fitting), remedy);
	}

	/**
	 * Returns whether the source calls a method by a name. Kotlin puts a hash behind the
	 * name of a method that takes or returns a value class, and the module behind that of
	 * an internal method.
	 */
	private static boolean isNamed(Method method, String name) {
		return method.getName().equals(name) || (KotlinDetector.isKotlinType(method.getDeclaringClass())
				&& (method.getName().startsWith(name + "-") || method.getName().startsWith(name + "$")));
	}

	private static boolean fits(Method candidate, Method method) {
		Class<?>[] offered = AnnotatedMethod.parameterTypes(candidate);
		Class<?>[] needed = AnnotatedMethod.parameterTypes(method);
		if (candidate.equals(method) || AnnotatedMethod.isSuspending(candidate) != AnnotatedMethod.isSuspending(method)
				|| offered.length < needed.length || offered.length > needed.length + 1) {
			return false;
		}
		return IntStream.range(0, needed.length).allMatch((index) -> offered[index].isAssignableFrom(needed[index]))
				&& (offered.length == needed.length || CAUSES.contains(offered[needed.length]));
	}

	private static void checkOutcome(AnnotatedMethod annotated, Method fallback) {
		Class<?> needed = annotated.result().toClass();
		Class<?> offered = AnnotatedMethod.result(fallback, annotated.beanClass()).toClass();
		// Kotlin's Unit is no result, and a function whose result is Nothing only throws.
		if (needed != void.class && !needed.getName().equals("kotlin.Unit") && offered != Void.class
				&& !ClassUtils.isAssignable(needed, offered)) {
			throw refuse(annotated, "returns " + offered.getName(),
					"let it return " + needed.getName() + " as the method does");
		}
		for (Class<?> thrown : fallback.getExceptionTypes()) {
			boolean checked = !RuntimeException.class.isAssignableFrom(thrown) && !Error.class.isAssignableFrom(thrown);
			if (checked && !ReflectionUtils.declaresException(annotated.method(), thrown)) {
				throw refuse(annotated, "throws " + thrown.getName() + ", which the method does not declare",
						"declare it there too, or catch it");
			}
		}
	}

	private static RuntimeException refuse(AnnotatedMethod annotated, String problem, String remedy) {
		return annotated.refuse("fallback", annotated.annotation().fallback(), problem, remedy);
	}

	private static String signatures(Collection<Method> methods) {
		return methods.stream()
			.map((method) -> (AnnotatedMethod.isSuspending(method) ? "suspend " : "")
					+ AnnotatedMethod.signature(method))
			.sorted()
			.collect(Collectors.joining(" and "));
	}

	boolean handles(LockException failure) {
		return ((this.cause != null) ? this.cause : LockNotAcquiredException.class).isInstance(failure);
	}

	@Nullable Object invoke(Object target, Object[] args, LockException failure) throws Throwable {
		@Nullable Object[] all = args;
		if (this.cause != null) {
			int own = args.length - (AnnotatedMethod.isSuspending(this.method) ? 1 : 0);
			all = Arrays.copyOf(args, args.length + 1, Object[].class);
			System.arraycopy(args, own, all, own + 1, args.length - own);
			all[own] = failure;
		}
		// This utility also calls suspend functions, and returns their result as a
		// Publisher of Reactor.
		return AopUtils.invokeJoinpointUsingReflection(target, this.method, all);
	}

}
