package io.github.distributedlock.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * Refuses methods that would run without the lock: those that a proxy cannot intercept,
 * and those that go on after they have returned.
 */
final class MethodRules {

	private static final String FOR_FINAL = "remove final (in Kotlin: open, or the kotlin-spring plugin)";

	/**
	 * Results that arrive later by a way that we do not follow, by name: their libraries
	 * need not be there.
	 */
	private static final Map<String, String> ASYNCHRONOUS = Map.of("org.reactivestreams.Publisher", "a reactive stream",
			Flow.Publisher.class.getName(), "a reactive stream", "kotlinx.coroutines.flow.Flow", "a Kotlin flow",
			"kotlinx.coroutines.Job", "a Kotlin job", "io.reactivex.rxjava3.core.SingleSource", "a reactive result",
			"io.reactivex.rxjava3.core.MaybeSource", "a reactive result", "io.reactivex.rxjava3.core.CompletableSource",
			"a reactive result", "io.reactivex.rxjava3.core.ObservableSource", "a reactive result",
			"io.smallrye.mutiny.Uni", "a reactive result");

	private MethodRules() {
	}

	static void check(AnnotatedMethod annotated) {
		checkReachable(annotated);
		checkResult(annotated);
	}

	private static void checkReachable(AnnotatedMethod annotated) {
		Method method = annotated.method();
		int modifiers = method.getModifiers();
		if (Modifier.isPrivate(modifiers)) {
			throw unlocked(annotated, "is private", "make it public and call it on the bean, or move the annotation");
		}
		if (Modifier.isStatic(modifiers)) {
			throw unlocked(annotated, "is static", "make it an instance method, or lock by hand");
		}
		if (Modifier.isFinal(modifiers)) {
			throw unlocked(annotated, "is final", FOR_FINAL);
		}
		Class<?> beanClass = annotated.beanClass();
		if (Modifier.isFinal(beanClass.getModifiers()) && ClassUtils.getAllInterfacesForClass(beanClass).length == 0) {
			throw unlocked(annotated, "is in a final class", FOR_FINAL);
		}
		if ((modifiers & (Modifier.PUBLIC | Modifier.PROTECTED)) == 0
				&& !method.getDeclaringClass().getPackageName().equals(beanClass.getPackageName())) {
			throw unlocked(annotated, "is visible only in the package of " + method.getDeclaringClass().getName(),
					"make it public or protected");
		}
	}

	private static RuntimeException unlocked(AnnotatedMethod annotated, String why, String remedy) {
		return annotated
			.refuse("the method " + why + ", so that no proxy can intercept it and it would run unlocked: " + remedy);
	}

	private static void checkResult(AnnotatedMethod annotated) {
		Class<?>[] parameters = annotated.method().getParameterTypes();
		if (parameters.length > 0
				&& "kotlin.coroutines.Continuation".equals(parameters[parameters.length - 1].getName())) {
			throw outlives(annotated, "is a suspend function");
		}
		Class<?> result = annotated.resultType();
		String kind = asynchronous(result);
		if (kind != null) {
			throw outlives(annotated, "returns " + kind + " (" + result.getName() + ")");
		}
		if (Future.class.isAssignableFrom(result) && !CompletionStage.class.isAssignableFrom(result)) {
			throw outlives(annotated, "returns " + result.getName() + ", which does not tell when it completes");
		}
	}

	private static RuntimeException outlives(AnnotatedMethod annotated, String what) {
		return annotated.refuse("the method " + what + ", and the lock would be released while it still works: "
				+ "return CompletableFuture, or the plain result, or lock by hand");
	}

	private static @Nullable String asynchronous(Class<?> type) {
		String kind = ASYNCHRONOUS.get(type.getName());
		for (Class<?> each : type.getInterfaces()) {
			kind = (kind != null) ? kind : asynchronous(each);
		}
		if (kind == null && type.getSuperclass() != null) {
			kind = asynchronous(type.getSuperclass());
		}
		return kind;
	}

}
