package io.github.distributedlock.aop;

import java.lang.reflect.Method;
import java.lang.reflect.TypeVariable;
import java.util.List;
import java.util.concurrent.Future;

import io.github.distributedlock.internal.OutlivingResult;
import org.jspecify.annotations.Nullable;

import org.springframework.core.KotlinDetector;
import org.springframework.core.MethodParameter;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.util.ClassUtils;

/**
 * Finds the methods whose result runs when it is subscribed to, so that each subscription
 * can take the lock.
 */
final class ReactiveResults {

	private static final String FLUX = "reactor.core.publisher.Flux";

	private static final String FLOW = "kotlinx.coroutines.flow.Flow";

	private static final String OR = ", or return CompletableFuture or the plain result";

	/**
	 * The classes that Spring's proxies need to call a {@code suspend} function.
	 */
	private static final List<String> FOR_SUSPEND = List.of(FLUX, "kotlinx.coroutines.reactor.MonoKt",
			"kotlin.reflect.full.KClasses");

	private ReactiveResults() {
	}

	/**
	 * Returns the reactive type of a method's result.
	 * @return the type, or {@code null} if the method has its result when it returns
	 * @throws io.github.distributedlock.LockDefinitionException if a library is missing
	 */
	static @Nullable ReactiveAdapter typeOf(AnnotatedMethod annotated) {
		if (AnnotatedMethod.isSuspending(annotated.method())) {
			return suspending(annotated);
		}
		Class<?> declared = annotated.resultType();
		if (!OutlivingResult.isReactive(declared) || Future.class.isAssignableFrom(declared)) {
			return null;
		}
		if (!isPresent(FLUX)) {
			throw annotated.refuse(
					"the method returns " + declared.getName()
							+ ", and a lock can be held until that has ended only with Reactor",
					"add io.projectreactor:reactor-core" + OR);
		}
		if (declared.getName().equals(FLOW) && !isPresent("kotlinx.coroutines.reactor.MonoKt")) {
			throw withoutCoroutines(annotated, "returns a Kotlin Flow");
		}
		return adapter(declared);
	}

	private static @Nullable ReactiveAdapter suspending(AnnotatedMethod annotated) {
		if (!FOR_SUSPEND.stream().allMatch(ReactiveResults::isPresent)) {
			throw withoutCoroutines(annotated, "is a suspend function");
		}
		Class<?> result = annotated.result().toClass();
		boolean flow = result.getName().equals(FLOW);
		if (result.getName().equals("kotlin.Result")) {
			throw annotated.refuse(
					"the method is a suspend function that returns kotlin.Result, which any proxy wraps in another one",
					"return the value, and throw what fails");
		}
		if (!flow && OutlivingResult.isReactive(result)) {
			throw annotated.refuse("the method is a suspend function that returns " + result.getName()
					+ ", which any proxy of Spring's unwraps", "return the value, or a Flow");
		}
		// The type to which Spring's proxies convert the result of a suspend function.
		return adapter(ClassUtils.resolveClassName(flow ? FLUX : "reactor.core.publisher.Mono",
				ReactiveResults.class.getClassLoader()));
	}

	/*
	 * Returns the adapter of a reactive type, or null. There is none for a type that
	 * Spring knows only by a supertype, since no result of the declared type could be
	 * given to the caller, and none for a type that does not wait for a subscription.
	 */
	private static @Nullable ReactiveAdapter adapter(Class<?> type) {
		ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(type);
		return (adapter != null && adapter.getReactiveType() == type && adapter.getDescriptor().isDeferred()) ? adapter
				: null;
	}

	private static RuntimeException withoutCoroutines(AnnotatedMethod annotated, String what) {
		return annotated.refuse(
				"the method " + what
						+ ", and a lock can be held until that has ended only with Kotlin's bridge to Reactor",
				"add org.jetbrains.kotlinx:kotlinx-coroutines-reactor and org.jetbrains.kotlin:kotlin-reflect" + OR);
	}

	private static boolean isPresent(String className) {
		return ClassUtils.isPresent(className, ReactiveResults.class.getClassLoader());
	}

	/**
	 * Returns whether Kotlin's compiler was told that a method never returns null. Before
	 * Spring 7 each getter of a property counts as such a method.
	 */
	static boolean isNeverNull(AnnotatedMethod annotated) {
		Method method = annotated.method();
		return KotlinDetector.isKotlinType(method.getDeclaringClass()) && isPresent("kotlin.reflect.full.KClasses")
				&& !annotated.result().toClass().getName().equals("kotlin.Unit")
				&& !(annotated.result().getType() instanceof TypeVariable) && method.getReturnType() != void.class
				&& !new MethodParameter(method, -1).isOptional();
	}

}
