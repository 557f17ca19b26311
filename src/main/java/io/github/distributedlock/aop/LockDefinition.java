package io.github.distributedlock.aop;

import java.lang.reflect.Method;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.env.PropertyResolver;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/**
 * The whole meaning of an annotation, resolved and checked once.
 *
 * @param annotated the method
 * @param template the request, but for the keys of a call
 * @param store the name of the lock bean, empty for the default bean
 * @param skipped the result of a skipped call, or {@code null} if a busy lock throws
 * @param fallback the method to call if the lock cannot be acquired, or {@code null}
 * @param lossReaction the reaction to a loss of the lock
 * @param results the rules for the results of the method
 * @param reactive the type of the method's result if each subscription takes the lock for
 * itself, {@code null} if the call does
 */
record LockDefinition(AnnotatedMethod annotated, RequestTemplate template, String store,
		@Nullable Supplier<@Nullable Object> skipped, @Nullable FallbackMethod fallback, LossReaction lossReaction,
		ResultRules results, @Nullable ReactiveAdapter reactive) {

	static LockDefinition of(AnnotatedMethod annotated, PropertyResolver properties, StandardEvaluationContext shared) {
		ReactiveAdapter reactive = ReactiveResults.typeOf(annotated);
		ResultRules results = ResultRules.of(annotated, reactive != null);
		RequestTemplate template = new RequestTemplate(annotated, properties,
				new KeyExpressions(annotated, properties, shared));
		String store = annotated.annotation().store();
		store = annotated.resolve("store", store, store, properties).trim();
		return new LockDefinition(annotated, template, store, SkippedResult.of(annotated, reactive),
				FallbackMethod.of(annotated), LossReaction.of(annotated), results, reactive);
	}

	/**
	 * Asks whether a store can serve the method.
	 * @param store throws a {@link LockBackendException} if the store cannot
	 * @throws LockDefinitionException if the store refused for good
	 */
	void require(Consumer<LockRequest> store) {
		try {
			store.accept(this.template.prototype());
		}
		catch (LockBackendException ex) {
			if (ex.isRetryable() || !ex.isWithoutEffect()) {
				throw ex;
			}
			// The refusal has no cause: Spring Boot would report the cause in place of
			// the refusal.
			throw this.annotated.refuse("not possible here: " + ex.problem(), ex.remedy().orElse(null));
		}
	}

	/**
	 * Returns the result of a call whose lock could not be acquired.
	 * @throws Throwable an exception of the fallback, or the failure if no fallback
	 * handles the failure
	 */
	@Nullable Object fallBack(Object target, Object[] args, LockException failure) throws Throwable {
		FallbackMethod fallback = this.fallback;
		if (fallback == null || !fallback.handles(failure)) {
			throw failure;
		}
		return fallback.invoke(target, args, failure);
	}

	/**
	 * Registers the methods that this definition reaches by reflection.
	 */
	void registerHints(ReflectionHints hints) {
		for (Object each : new @Nullable Object[] { this.annotated.method(), this.annotated.declaration(),
				(this.fallback != null) ? this.fallback.method() : null }) {
			if (each instanceof Method method) {
				hints.registerMethod(method, ExecutableMode.INVOKE);
			}
		}
		this.template.keys().registerHints(hints);
	}

}
