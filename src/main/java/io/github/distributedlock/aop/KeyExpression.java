package io.github.distributedlock.aop;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.ParserContext;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/**
 * One string of the {@code key} attribute, parsed. The parts of a template are evaluated
 * one by one, because Spring's own template turns a part that is null into text.
 */
final class KeyExpression {

	/**
	 * Never compiled, whatever the application has set: compiled code is made for the
	 * types of earlier calls, and fails with others.
	 */
	private static final SpelParserConfiguration CONFIGURATION = new SpelParserConfiguration(SpelCompilerMode.OFF,
			null);

	private static final SpelExpressionParser PARSER = new SpelExpressionParser(CONFIGURATION);

	private static final Pattern REFERENCE = Pattern.compile("#\\w+(?:\\??\\.\\w+(?:\\(\\))?|\\[\\w+])*");

	/** A parameter as other libraries have it in a template. */
	private static final Pattern BRACES = Pattern.compile("\\{(\\w+)([\\w.()]*)}");

	private static final Pattern TEXT = Pattern.compile("[^#'\"()\\[\\]!?+*=<>]+");

	private final AnnotatedMethod annotated;

	private final String written;

	/**
	 * The text with which all keys begin.
	 */
	private final String beginning;

	/**
	 * What follows.
	 */
	private final List<Part> parts;

	private final boolean constant;

	private KeyExpression(AnnotatedMethod annotated, String written, List<Expression> parts,
			ParameterIndexes parameters) {
		this.annotated = annotated;
		this.written = written;
		List<Part> all = parts.stream().map((part) -> Part.of(checked(part), parameters)).toList();
		String text = all.get(0).text();
		this.beginning = (text != null) ? text : "";
		this.parts = (text != null) ? all.subList(1, all.size()) : all;
		this.constant = parts.stream().allMatch(ExpressionRules::isConstant);
	}

	private static Expression checked(Expression part) {
		return (part instanceof SpelExpression expression) ? Concatenation.check(expression, CONFIGURATION) : part;
	}

	/**
	 * Parses a string of the annotation.
	 * @param written the string as it is in the source
	 * @param source the string with its properties
	 * @throws io.github.distributedlock.LockDefinitionException if it can only fail
	 */
	static KeyExpression parse(AnnotatedMethod annotated, String written, KeySource source, ExpressionRules rules,
			ParameterIndexes parameters) {
		String resolved = source.text();
		boolean template = source.isTemplate();
		List<Expression> parts;
		try {
			Expression expression = template ? PARSER.parseExpression(resolved, ParserContext.TEMPLATE_EXPRESSION)
					: PARSER.parseExpression(resolved);
			parts = (expression instanceof CompositeStringExpression composite) ? List.of(composite.getExpressions())
					: List.of(expression);
		}
		catch (ParseException | IllegalStateException ex) {
			throw annotated.refuse("key", written,
					"is not a valid SpEL " + (template ? "template" : "expression") + ": " + ex.getMessage(),
					template ? closing(resolved) : remedy(written, parameters), ex);
		}
		for (Expression part : parts) {
			Fault fault = rules.findFault(part);
			if (fault != null) {
				String more = template ? null : remedy(written, parameters);
				throw annotated.refuse("key", written, fault.problem(),
						fault.remedy() + ((more != null) ? "; " + more : ""));
			}
		}
		return new KeyExpression(annotated, written, parts, parameters);
	}

	private static @Nullable String closing(String resolved) {
		return (resolved.indexOf('}', resolved.lastIndexOf("#{")) < 0) ? "close it with }" : null;
	}

	private static @Nullable String remedy(String written, ParameterIndexes parameters) {
		if (written.indexOf('\'') >= 0) {
			return null;
		}
		Matcher braces = BRACES.matcher(written);
		if (braces.find() && parameters.of(braces.group(1)) != null) {
			return "for text with a value in it write \"" + braces.replaceAll("#{#$1$2}") + "\"";
		}
		return (written.indexOf('#') >= 0) ? textWithValues(written)
				: "if it is a fixed key write \"'" + written + "'\" in quotes";
	}

	/*
	 * Only for what is text between references: in an operation such as #a * (#b) the
	 * text is not text.
	 */
	private static @Nullable String textWithValues(String written) {
		Matcher reference = REFERENCE.matcher(written);
		String text = reference.replaceAll("");
		if (!TEXT.matcher(text).matches() || text.isBlank()) {
			return null;
		}
		String remedy = "for text with a value in it write \"" + reference.replaceAll("#{$0}") + "\"";
		reference.reset();
		// One after some text, so that the plus cannot add numbers.
		if (reference.find() && reference.start() > 0 && reference.end() == written.length()) {
			remedy += ", or \"'" + written.substring(0, reference.start()) + "' + " + reference.group() + "\"";
		}
		return remedy;
	}

	boolean isConstant() {
		return this.constant;
	}

	/**
	 * Whether the evaluation looks at the context.
	 */
	boolean needsContext() {
		return this.parts.stream().anyMatch(Part::isEvaluated);
	}

	/**
	 * The parts that are evaluated, as they were parsed.
	 */
	Stream<SpelNode> evaluated() {
		return this.parts.stream()
			.filter((part) -> part.isEvaluated() && part.expression() instanceof SpelExpression)
			.map((part) -> ((SpelExpression) part.expression()).getAST());
	}

	/**
	 * The keys for one call.
	 * @throws IllegalArgumentException if a part fails, is null, blank, empty or of a
	 * type that cannot be a key
	 */
	List<String> evaluate(Object[] args, EvaluationContext context) {
		if (this.parts.isEmpty()) {
			return List.of(this.beginning);
		}
		List<String> keys = texts(this.beginning, this.parts.get(0), args, context);
		for (int i = 1; i < this.parts.size(); i++) {
			Part part = this.parts.get(i);
			keys = (keys.size() == 1) ? texts(keys.get(0), part, args, context)
					: combine(keys, texts("", part, args, context));
		}
		return keys;
	}

	private static List<String> combine(List<String> beginnings, List<String> ends) {
		List<String> combined = new ArrayList<>(beginnings.size() * ends.size());
		for (String beginning : beginnings) {
			for (String end : ends) {
				combined.add(beginning.concat(end));
			}
		}
		return combined;
	}

	/**
	 * The texts of a part, each after a beginning.
	 */
	private List<String> texts(String beginning, Part part, Object[] args, EvaluationContext context) {
		if (part.text() != null) {
			return List.of(beginning.concat(part.text()));
		}
		Object value = part.isEvaluated() ? value(part.expression(), context) : args[part.argument()];
		try {
			return KeyText.of(value, beginning);
		}
		catch (IllegalArgumentException ex) {
			throw failed(part.expression().getExpressionString(), String.valueOf(ex.getMessage()), ex);
		}
	}

	private @Nullable Object value(Expression part, EvaluationContext context) {
		try {
			return part.getValue(context);
		}
		catch (RuntimeException ex) {
			throw failed(part, ex);
		}
	}

	private IllegalArgumentException failed(Expression part, RuntimeException failure) {
		String text = part.getExpressionString();
		UnusableValueException unusable = UnusableValueException.behind(failure);
		if (unusable == null) {
			return failed(text, "could not be evaluated (" + failure.getMessage() + ")", failure);
		}
		return failed(Objects.requireNonNullElse(unusable.expression(), text), String.valueOf(unusable.getMessage()),
				failure);
	}

	private IllegalArgumentException failed(String expression, String why, RuntimeException cause) {
		String remedy = !why.equals("is null") ? ""
				: ": check it before the call, or write what to lock instead, (" + expression + " ?: 'none')";
		return new IllegalArgumentException(
				this.annotated.told("key", this.written)
						+ (expression.equals(this.written) ? "" : ", of which " + expression) + " " + why + remedy,
				cause);
	}

	/**
	 * One of the parts. Most are text, or a parameter as it is, and need no evaluation.
	 *
	 * @param text the text, if it is one
	 * @param argument the index of the parameter, -1 if it is none
	 */
	private record Part(Expression expression, @Nullable String text, int argument) {

		private static Part of(Expression expression, ParameterIndexes parameters) {
			if (expression instanceof LiteralExpression literal) {
				return new Part(expression, literal.getExpressionString(), -1);
			}
			Integer index = null;
			if (expression instanceof SpelExpression spel && spel.getAST() instanceof VariableReference variable) {
				String name = variable.toStringAST().substring(1);
				index = name.equals("root") || name.equals("this") ? null : parameters.of(name);
			}
			return new Part(expression, null, (index != null) ? index : -1);
		}

		boolean isEvaluated() {
			return this.text == null && this.argument < 0;
		}

	}

}
