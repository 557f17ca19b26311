package io.github.distributedlock.aop;

import java.util.ArrayList;
import java.util.List;

import io.github.distributedlock.LockDefinitionException;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.env.PropertyResolver;
import org.springframework.expression.EvaluationContext;

/**
 * The keys of an annotated method. Several strings are several locks; they are never
 * joined, so that no two lists of them can be confused.
 */
final class KeyExpressions {

	private final AnnotatedMethod annotated;

	private final EvaluationContext shared;

	private final ParameterIndexes parameters;

	private final List<KeyExpression> expressions = new ArrayList<>();

	private final @Nullable List<String> constant;

	private final boolean needContext;

	KeyExpressions(AnnotatedMethod annotated, PropertyResolver properties, EvaluationContext shared) {
		this.annotated = annotated;
		this.shared = shared;
		this.parameters = new ParameterIndexes(annotated);
		ExpressionRules rules = new ExpressionRules(this.parameters);
		for (String written : annotated.annotation().key()) {
			if (written.isBlank()) {
				throw annotated.refuse("key", written, "is blank", "write an expression, or leave the key out");
			}
			KeySource source = KeySource.resolve(annotated, written, properties, this.parameters);
			this.expressions.add(KeyExpression.parse(annotated, written, source, rules, this.parameters));
		}
		this.constant = constant();
		this.needContext = this.expressions.stream().anyMatch(KeyExpression::needsContext);
	}

	private @Nullable List<String> constant() {
		if (this.expressions.isEmpty()) {
			return List.of(this.annotated.namedClass().getName() + "." + this.annotated.method().getName());
		}
		List<String> keys = new ArrayList<>();
		for (KeyExpression expression : this.expressions) {
			try {
				if (!expression.isConstant()) {
					return null;
				}
				keys.addAll(expression.evaluate(new Object[0], this.shared));
			}
			catch (IllegalArgumentException ex) {
				throw new LockDefinitionException(String.valueOf(ex.getMessage()), "write text that is not blank", ex);
			}
		}
		return List.copyOf(keys);
	}

	/**
	 * Tells what the keys read from by reflection.
	 */
	void registerHints(ReflectionHints hints, BeanFactory beans) {
		KeyHints keyHints = new KeyHints(this.annotated, this.parameters, hints, beans);
		this.expressions.stream().flatMap(KeyExpression::evaluated).forEach(keyHints::register);
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
		EvaluationContext context = this.needContext
				? new KeyContext(this.shared, this.parameters, new KeyRoot(this.annotated, target, args)) : this.shared;
		if (this.expressions.size() == 1) {
			return this.expressions.get(0).evaluate(args, context);
		}
		List<String> keys = new ArrayList<>();
		for (KeyExpression expression : this.expressions) {
			keys.addAll(expression.evaluate(args, context));
		}
		return keys;
	}

}
