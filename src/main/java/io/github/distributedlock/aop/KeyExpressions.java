package io.github.distributedlock.aop;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.core.env.PropertyResolver;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/**
 * The keys of an annotated method. Several strings are several locks; they are never
 * joined, so that no two lists of them can be confused.
 */
final class KeyExpressions {

	private final AnnotatedMethod annotated;

	private final StandardEvaluationContext shared;

	private final Map<String, Integer> parameters;

	private final List<KeyExpression> expressions = new ArrayList<>();

	private final @Nullable List<String> constant;

	KeyExpressions(AnnotatedMethod annotated, PropertyResolver properties, StandardEvaluationContext shared) {
		this.annotated = annotated;
		this.shared = shared;
		this.parameters = KeyContext.parameters(annotated);
		for (String written : annotated.annotation().key()) {
			if (written.isBlank()) {
				throw annotated.refuse("key", written, "is blank", "write an expression, or leave the key out");
			}
			this.expressions.add(new KeyParser(annotated, written, properties, this.parameters).parse());
		}
		this.constant = this.expressions.stream().allMatch(KeyExpression::isConstant) ? constant() : null;
	}

	private List<String> constant() {
		return this.expressions.isEmpty()
				? List.of(this.annotated.namedClass().getName() + "." + this.annotated.method().getName())
				: List.copyOf(evaluate(this, new Object[0]));
	}

	/**
	 * The keys if they are the same on every call.
	 */
	@Nullable List<String> ifConstant() {
		return this.constant;
	}

	/**
	 * The keys of one call.
	 * @throws IllegalArgumentException if an expression has no usable value
	 */
	List<String> evaluate(Object target, Object[] args) {
		Method method = this.annotated.method();
		EvaluationContext context = new KeyContext(this.shared, this.parameters,
				new KeyContext.Root(method, method.getName(), target, this.annotated.beanClass(), args));
		List<String> keys = new ArrayList<>();
		for (KeyExpression expression : this.expressions) {
			keys.addAll(expression.evaluate(context));
		}
		return keys;
	}

	/**
	 * Keeps the methods of the parameters for a native image, and the properties of their
	 * properties.
	 */
	void registerHints(ReflectionHints hints) {
		if (this.constant == null) {
			hints.registerType(KeyContext.Root.class, MemberCategory.INVOKE_PUBLIC_METHODS);
			for (Class<?> type : this.annotated.method().getParameterTypes()) {
				hints.registerType(type, MemberCategory.INVOKE_PUBLIC_METHODS);
			}
			new BindingReflectionHintsRegistrar().registerReflectionHints(hints,
					this.annotated.method().getGenericParameterTypes());
		}
	}

}
