package io.github.distributedlock.aop;

import java.util.ArrayList;
import java.util.List;

import io.github.distributedlock.LockException;
import org.jspecify.annotations.Nullable;

import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.spel.standard.SpelExpression;

/**
 * One string of the {@code key} attribute, parsed: text and values, one after the other.
 * They are put together here, because Spring's templates and its {@code +} turn a value
 * that is null into text.
 *
 * @param written the string
 * @param parts its text and values
 */
record KeyExpression(AnnotatedMethod annotated, String written, List<Expression> parts) {

	boolean isConstant() {
		return this.parts.stream().allMatch(LiteralExpression.class::isInstance);
	}

	/**
	 * The keys for one call, one for each element of a value that has several.
	 * @throws IllegalArgumentException if a value cannot be had, is null, blank, empty or
	 * of a type that cannot be a key
	 */
	List<String> evaluate(EvaluationContext context) {
		List<String> keys = List.of("");
		for (Expression part : this.parts) {
			List<String> texts = texts(part, context);
			List<String> longer = new ArrayList<>(keys.size() * texts.size());
			for (String key : keys) {
				texts.forEach((text) -> longer.add(key.concat(text)));
			}
			keys = longer;
		}
		return keys;
	}

	private List<String> texts(Expression part, EvaluationContext context) {
		if (part instanceof LiteralExpression text) {
			return List.of(text.getValue());
		}
		Object value = value(part, context);
		try {
			return KeyText.of(value);
		}
		catch (IllegalArgumentException ex) {
			throw failed(part, String.valueOf(ex.getMessage()), ex);
		}
	}

	private @Nullable Object value(Expression part, EvaluationContext context) {
		try {
			Object value = part.getValue(context);
			if (part instanceof SpelExpression sum && KeyParser.isPlus(sum.getAST()) && !(value instanceof Number)) {
				throw new IllegalArgumentException("an operand is text, which a template joins: #{#a}#{#b}");
			}
			return value;
		}
		catch (RuntimeException ex) {
			List<Throwable> causes = LockException.causes(ex);
			throw failed(part, "could not be evaluated (" + causes.get(causes.size() - 1).getMessage() + ")", ex);
		}
	}

	private IllegalArgumentException failed(Expression part, String why, RuntimeException cause) {
		String expression = part.getExpressionString();
		String remedy = !why.equals("is null") ? ""
				: ": check it before the call, or write what to lock instead, (" + expression + " ?: 'none')";
		return new IllegalArgumentException(
				this.annotated.describe("key", this.written)
						+ (expression.equals(this.written) ? "" : ", of which " + expression) + " " + why + remedy,
				cause);
	}

}
