package io.github.distributedlock.aop;

import java.lang.reflect.Method;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.reactive.ReactiveType;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.env.PropertyResolver;
import org.springframework.expression.EvaluationContext;

/**
 * All that an annotation means, resolved and checked once.
 *
 * @param annotated the method
 * @param template the request, but for the keys of a call
 * @param skipped the result of a skipped call, or {@code null} if a busy lock is thrown
 * @param fallback what to call if the lock cannot be acquired, or {@code null}
 * @param lossReaction what to do if the lock is lost
 * @param results what may be returned
 * @param reactive what the method returns if each subscription takes the lock for itself,
 * {@code null} if the call does
 * @param scheduled whether a scheduler may call it
 */
record LockDefinition(AnnotatedMethod annotated, RequestTemplate template, @Nullable Supplier<@Nullable Object> skipped,
		@Nullable FallbackMethod fallback, LossReaction lossReaction, ResultRules results,
		@Nullable ReactiveType reactive, boolean scheduled) {

	static LockDefinition of(AnnotatedMethod annotated, PropertyResolver properties, EvaluationContext shared) {
		ReactiveType reactive = ReactiveResults.typeOf(annotated);
		ResultRules results = ResultRules.of(annotated, reactive != null);
		RequestTemplate template = new RequestTemplate(annotated, properties,
				new KeyExpressions(annotated, properties, shared));
		return new LockDefinition(annotated, template, SkippedResult.of(annotated, reactive),
				FallbackMethod.of(annotated), LossReaction.of(annotated), results, reactive, annotated.isScheduled());
	}

	/**
	 * Asks whether a store can serve it.
	 * @param store throws a {@link LockBackendException} if not
	 * @throws LockDefinitionException if it said so for good
	 */
	void require(Consumer<LockRequest> store) {
		LockRequest request = this.template.prototype();
		try {
			store.accept(request);
		}
		catch (LockBackendException ex) {
			if (ex.isRetryable() || !ex.isNotCarriedOut()) {
				throw ex;
			}
			throw refusal(request, "is not possible here: " + ex.problem(), ex.remedy().orElse(null));
		}
	}

	/**
	 * Tells what it reaches by reflection.
	 */
	void registerHints(ReflectionHints hints, BeanFactory beans) {
		hints.registerMethod(this.annotated.method(), ExecutableMode.INVOKE);
		if (this.annotated.declaration() instanceof Method declaration) {
			hints.registerMethod(declaration, ExecutableMode.INVOKE);
		}
		if (this.fallback != null) {
			hints.registerMethod(this.fallback.method(), ExecutableMode.INVOKE);
		}
		this.template.keys().registerHints(hints, beans);
	}

	// Without the store's exception, all of which is in the text: as the cause it would
	// be reported in place of this.
	private LockDefinitionException refusal(LockRequest request, String problem, @Nullable String remedy) {
		if (request.fair()) {
			return this.annotated.refuse("fair", true, problem, remedy);
		}
		return request.fenced() ? this.annotated.refuse("fenced", true, problem, remedy)
				: this.annotated.refuse("mode", request.mode(), problem, remedy);
	}

}
