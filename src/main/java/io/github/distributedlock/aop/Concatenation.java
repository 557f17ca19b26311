package io.github.distributedlock.aop;

import java.util.Optional;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import org.springframework.expression.TypedValue;
import org.springframework.expression.spel.ExpressionState;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.Elvis;
import org.springframework.expression.spel.ast.InlineList;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.NullLiteral;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.SpelNodeImpl;
import org.springframework.expression.spel.ast.Ternary;
import org.springframework.expression.spel.standard.SpelExpression;

/**
 * Takes an expression apart whose value is put together with <code>+</code>. SpEL makes
 * text of each operand, of {@code null} as well, without asking a converter; so each
 * operand that is not a literal becomes a node that checks it as a part of a template is
 * checked.
 */
final class Concatenation {

	private final String template;

	private Concatenation(String template) {
		this.template = template;
	}

	/**
	 * The same expression, whose operands are checked when it is evaluated.
	 */
	static SpelExpression check(SpelExpression expression, SpelParserConfiguration configuration) {
		SpelNode root = expression.getAST();
		SpelNodeImpl checked = new Concatenation(template(root)).check((SpelNodeImpl) root, Place.KEY);
		return new SpelExpression(expression.getExpressionString(), checked, configuration);
	}

	private static boolean isPlus(SpelNode node) {
		return node instanceof OpPlus && node.getChildCount() == 2;
	}

	/*
	 * Parentheses leave no node behind.
	 */
	private SpelNodeImpl check(SpelNodeImpl node, Place place) {
		int start = node.getStartPosition();
		int end = node.getEndPosition();
		if (isPlus(node)) {
			return new OpPlus(start, end, checkChild(node, 0, Place.OPERAND), checkChild(node, 1, Place.OPERAND));
		}
		if (node instanceof Ternary) {
			return new Ternary(start, end, child(node, 0), checkChild(node, 1, place), checkChild(node, 2, place));
		}
		if (node instanceof Elvis) {
			return new Elvis(start, end,
					checkChild(node, 0, (place == Place.KEY) ? Place.KEY : Place.OPERAND_WITH_DEFAULT),
					checkChild(node, 1, place));
		}
		if (node instanceof InlineList) {
			return new InlineList(start, end,
					IntStream.range(0, node.getChildCount())
						.mapToObj((index) -> checkChild(node, index, Place.KEY))
						.toArray(SpelNodeImpl[]::new));
		}
		int last = node.getChildCount() - 1;
		if (place == Place.KEY && node instanceof CompoundExpression && node.getChild(last) instanceof Projection) {
			return new CompoundExpression(start, end,
					IntStream.rangeClosed(0, last)
						.mapToObj((index) -> (index < last) ? child(node, index) : checkChild(node, index, place))
						.toArray(SpelNodeImpl[]::new));
		}
		if (place == Place.KEY && node instanceof Projection projection) {
			return new Projection(projection.isNullSafe(), start, end, checkChild(node, 0, place));
		}
		boolean literal = node instanceof Literal && !(node instanceof NullLiteral);
		return (place == Place.KEY || literal) ? node
				: new Operand(node, place == Place.OPERAND_WITH_DEFAULT, this.template);
	}

	private SpelNodeImpl checkChild(SpelNode node, int index, Place place) {
		return check(child(node, index), place);
	}

	private static SpelNodeImpl child(SpelNode node, int index) {
		return (SpelNodeImpl) node.getChild(index);
	}

	/*
	 * What to write for one key for each element.
	 */
	private static String template(SpelNode node) {
		if (isPlus(node)) {
			return template(node.getChild(0)) + template(node.getChild(1));
		}
		return (node instanceof Literal literal) ? String.valueOf(literal.getLiteralValue().getValue())
				: "#{" + node.toStringAST() + "}";
	}

	private enum Place {

		/** The value is a key, or a list of keys, and is checked as such. */
		KEY,

		/** The value is joined with others. */
		OPERAND,

		/** The same, unless it is missing and another takes its place. */
		OPERAND_WITH_DEFAULT

	}

	/**
	 * A number stays one, so that two of them are added; any other value becomes its
	 * text.
	 */
	private static final class Operand extends SpelNodeImpl {

		private final boolean hasDefault;

		private final String template;

		private Operand(SpelNodeImpl node, boolean hasDefault, String template) {
			super(node.getStartPosition(), node.getEndPosition(), node);
			this.hasDefault = hasDefault;
			this.template = template;
		}

		@Override
		public TypedValue getValueInternal(ExpressionState state) {
			Object value = getChild(0).getValue(state);
			if (this.hasDefault) {
				// Spring Framework 7 takes it out of its Optional, 6.2 does not.
				value = (value instanceof Optional<?> optional) ? optional.orElse(null) : value;
				if (value == null || "".equals(value)) {
					return TypedValue.NULL;
				}
			}
			return new TypedValue((value instanceof Number) ? value : text(value));
		}

		private String text(@Nullable Object value) {
			try {
				return KeyText.joined(value, this.template);
			}
			catch (IllegalArgumentException ex) {
				throw new UnusableValueException(toStringAST(), String.valueOf(ex.getMessage()));
			}
		}

		@Override
		public String toStringAST() {
			return getChild(0).toStringAST();
		}

	}

}
