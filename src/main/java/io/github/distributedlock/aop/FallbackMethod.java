package io.github.distributedlock.aop;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.annotation.IfBusy;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * The method that is called instead of one whose lock could not be acquired.
 */
final class FallbackMethod {

	private static final List<Class<?>> CAUSES = List.of(LockNotAcquiredException.class, LockBackendException.class,
			LockException.class);

	private final Method method;

	private final Class<?> cause;

	private final boolean wantsCause;

	private final boolean suspending;

	private FallbackMethod(Method method, int parameters, boolean suspending) {
		this.method = method;
		this.suspending = suspending;
		this.wantsCause = method.getParameterCount() > parameters;
		this.cause = this.wantsCause ? method.getParameterTypes()[parameters - (suspending ? 1 : 0)]
				: LockNotAcquiredException.class;
		ReflectionUtils.makeAccessible(method);
	}

	static @Nullable FallbackMethod of(AnnotatedMethod annotated) {
		String name = annotated.annotation().fallback();
		if (name.isEmpty()) {
			return null;
		}
		if (annotated.annotation().ifBusy() == IfBusy.SKIP) {
			throw refuse(annotated, "cannot be together with ifBusy = SKIP", "leave one of them out");
		}
		Set<Method> named = named(annotated.beanClass(), name);
		List<Method> fitting = new ArrayList<>(named);
		fitting.removeIf((candidate) -> !fits(candidate, annotated.method()));
		if (fitting.size() != 1) {
			throw refuse(annotated,
					(fitting.isEmpty() ? "fits no method" : "fits several methods " + told(fitting))
							+ (fitting.isEmpty() && !named.isEmpty() ? "; there is " + told(named) : ""),
					"write one " + name + " with the parameters of " + AnnotatedMethod.signature(annotated.method())
							+ ", and optionally one more of LockNotAcquiredException, LockBackendException or LockException");
		}
		Method method = fitting.get(0);
		checkResult(annotated, method);
		checkExceptions(annotated, method);
		return new FallbackMethod(method, annotated.method().getParameterCount(), annotated.isSuspending());
	}

	/*
	 * By signature, the class itself first: a method that overrides another counts, the
	 * other does not.
	 */
	private static Set<Method> named(Class<?> beanClass, String name) {
		Map<List<Class<?>>, Method> named = new LinkedHashMap<>();
		Set<Class<?>> types = new LinkedHashSet<>();
		for (Class<?> type = beanClass; type != null; type = type.getSuperclass()) {
			types.add(type);
		}
		types.addAll(ClassUtils.getAllInterfacesForClassAsSet(beanClass));
		for (Class<?> type : types) {
			for (Method method : type.getDeclaredMethods()) {
				if (method.getName().equals(name) && !method.isSynthetic()) {
					named.putIfAbsent(Arrays.asList(method.getParameterTypes()), method);
				}
			}
		}
		return new LinkedHashSet<>(named.values());
	}

	private static boolean fits(Method candidate, Method method) {
		Class<?>[] offered = withoutContinuation(candidate);
		Class<?>[] needed = withoutContinuation(method);
		if (candidate.equals(method) || AnnotatedMethod.isSuspending(candidate) != AnnotatedMethod.isSuspending(method)
				|| offered.length < needed.length || offered.length > needed.length + 1) {
			return false;
		}
		for (int index = 0; index < needed.length; index++) {
			if (!offered[index].isAssignableFrom(needed[index])) {
				return false;
			}
		}
		return offered.length == needed.length || CAUSES.contains(offered[needed.length]);
	}

	private static Class<?>[] withoutContinuation(Method method) {
		Class<?>[] types = method.getParameterTypes();
		return AnnotatedMethod.isSuspending(method) ? Arrays.copyOf(types, types.length - 1) : types;
	}

	private static void checkResult(AnnotatedMethod annotated, Method fallback) {
		Class<?> needed = annotated.method().getReturnType();
		if (needed != void.class && !ClassUtils.isAssignable(needed, fallback.getReturnType())) {
			throw refuse(annotated, "returns " + fallback.getReturnType().getName(),
					"let it return " + needed.getName() + " as the method does");
		}
	}

	private static void checkExceptions(AnnotatedMethod annotated, Method fallback) {
		for (Class<?> thrown : fallback.getExceptionTypes()) {
			if (Exception.class.isAssignableFrom(thrown) && !RuntimeException.class.isAssignableFrom(thrown)
					&& !ReflectionUtils.declaresException(annotated.method(), thrown)) {
				throw refuse(annotated, "throws " + thrown.getName() + ", which the method does not declare",
						"declare it there too, or catch it");
			}
		}
	}

	private static RuntimeException refuse(AnnotatedMethod annotated, String problem, String remedy) {
		return annotated.refuse("fallback", annotated.annotation().fallback(), problem, remedy);
	}

	private static String told(Collection<Method> methods) {
		return methods.stream().map(AnnotatedMethod::signature).sorted().collect(Collectors.joining(" and "));
	}

	Method method() {
		return this.method;
	}

	boolean handles(LockException failure) {
		return this.cause.isInstance(failure);
	}

	@Nullable Object invoke(Object target, Object[] args, LockException failure) throws Throwable {
		@Nullable Object[] all = args;
		if (this.wantsCause) {
			int own = args.length - (this.suspending ? 1 : 0);
			all = Arrays.copyOf(args, args.length + 1, Object[].class);
			System.arraycopy(args, own, all, own + 1, args.length - own);
			all[own] = failure;
		}
		if (this.suspending) {
			// Knows how to call it, and what its result is for Reactor.
			return AopUtils.invokeJoinpointUsingReflection(target, this.method, all);
		}
		try {
			return this.method.invoke(target, all);
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

}
