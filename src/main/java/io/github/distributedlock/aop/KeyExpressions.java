package io.github.distributedlock.aop;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.github.distributedlock.LockException;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.core.env.PropertyResolver;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/**
 * The keys of an annotated method. Several strings are several locks; they are never
 * joined, so that no two lists of them can be confused. Text and values of one string are
 * put together here, because Spring's templates and its {@code +} turn a value that is
 * null into text.
 */
final class KeyExpressions {

	private final AnnotatedMethod annotated;

	private final StandardEvaluationContext shared;

	private final Map<String, Integer> parameters;

	/**
	 * The strings of the annotation, and their text and values.
	 */
	private final Map<String, List<Expression>> expressions = new LinkedHashMap<>();

	private final @Nullable List<String> constant;

	KeyExpressions(AnnotatedMethod annotated, PropertyResolver properties, StandardEvaluationContext shared) {
		this.annotated = annotated;
		this.shared = shared;
		this.parameters = KeyContext.parameters(annotated);
		for (String written : annotated.annotation().key()) {
			if (written.isBlank()) {
				throw annotated.refuse("key", written, "is blank", "write an expression, or leave the key out");
			}
			this.expressions.put(written, new KeyParser(annotated, written, properties, this.parameters).parse());
		}
		if (this.expressions.isEmpty()) {
			this.constant = List.of(annotated.namedClass().getName() + "." + annotated.method().getName());
		}
		else {
			boolean same = this.expressions.values()
				.stream()
				.flatMap(List::stream)
				.allMatch(LiteralExpression.class::isInstance);
			this.constant = same ? evaluate(this, new Object[0]) : null;
		}
	}

	/**
	 * The keys if they are the same on every call.
	 */
	@Nullable List<String> ifConstant() {
		return this.constant;
	}

	/**
	 * The keys of one call, one for each element of a value that has several.
	 * @throws IllegalArgumentException if a value cannot be had, is null, blank, empty or
	 * of a type that cannot be a key
	 */
	List<String> evaluate(Object target, Object[] args) {
		Method method = this.annotated.method();
		EvaluationContext context = new KeyContext(this.shared, this.parameters,
				new KeyContext.Root(method, method.getName(), target, this.annotated.beanClass(), args));
		List<String> keys = new ArrayList<>();
		this.expressions.forEach((written, parts) -> {
			List<String> joined = texts(written, parts.get(0), context);
			for (Expression part : parts.subList(1, parts.size())) {
				joined = join(joined, texts(written, part, context));
			}
			keys.addAll(joined);
		});
		return keys;
	}

	private static List<String> join(List<String> keys, List<String> texts) {
		if (keys.size() == 1 && texts.size() == 1) {
			return List.of(keys.get(0) + texts.get(0));
		}
		return keys.stream().flatMap((key) -> texts.stream().map(key::concat)).toList();
	}

	private List<String> texts(String written, Expression part, EvaluationContext context) {
		if (part instanceof LiteralExpression) {
			return List.of(part.getExpressionString());
		}
		Object value = value(written, part, context);
		try {
			return KeyText.of(value);
		}
		catch (IllegalArgumentException ex) {
			throw failed(written, part, String.valueOf(ex.getMessage()), ex);
		}
	}

	private @Nullable Object value(String written, Expression part, EvaluationContext context) {
		try {
			Object value = part.getValue(context);
			if (part instanceof SpelExpression sum && KeyParser.isPlus(sum.getAST()) && !(value instanceof Number)) {
				throw new IllegalArgumentException("an operand is text, which a template joins: #{#a}#{#b}");
			}
			return value;
		}
		catch (RuntimeException ex) {
			List<Throwable> causes = LockException.causes(ex);
			throw failed(written, part, "could not be evaluated (" + causes.get(causes.size() - 1).getMessage() + ")",
					ex);
		}
	}

	private IllegalArgumentException failed(String written, Expression part, String why, RuntimeException cause) {
		String expression = part.getExpressionString();
		String remedy = !why.equals("is null") ? ""
				: ": check it before the call, or write what to lock instead, (" + expression + " ?: 'none')";
		return new IllegalArgumentException(this.annotated.describe("key", written)
				+ (expression.equals(written) ? "" : ", of which " + expression) + " " + why + remedy, cause);
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
