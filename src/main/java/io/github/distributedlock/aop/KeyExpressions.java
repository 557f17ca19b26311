package io.github.distributedlock.aop;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.github.distributedlock.LockException;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.core.env.PropertyResolver;
import org.springframework.expression.Expression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.support.StandardEvaluationContext;

/**
 * The keys of an annotated method. Several strings are several locks; the strings are
 * never joined, so that no two lists of them can be confused. This class joins the text
 * and the values of one string, because Spring's templates and its {@code +} turn a value
 * that is null into text.
 */
final class KeyExpressions {

	private final AnnotatedMethod annotated;

	private final StandardEvaluationContext shared;

	private final Map<String, Integer> parameters;

	/**
	 * The strings of the annotation, each split into its text and values.
	 */
	private final List<List<Part>> strings;

	private final @Nullable List<String> constant;

	KeyExpressions(AnnotatedMethod annotated, PropertyResolver properties, StandardEvaluationContext shared) {
		this.annotated = annotated;
		this.shared = shared;
		this.parameters = KeyContext.parameters(annotated);
		this.strings = Stream.of(annotated.annotation().key()).map((written) -> parts(written, properties)).toList();
		if (this.strings.isEmpty()) {
			this.constant = List.of(annotated.namedClass().getName() + "." + annotated.name());
		}
		else {
			boolean same = this.strings.stream().flatMap(List::stream).allMatch((part) -> part.code == null);
			this.constant = same ? evaluate(this, new Object[0]) : null;
		}
	}

	private List<Part> parts(String written, PropertyResolver properties) {
		if (written.isBlank()) {
			throw this.annotated.refuse("key", written, "is blank", "write an expression, or leave the key out");
		}
		List<Part> parts = new ArrayList<>();
		String text = "";
		for (Expression each : new KeyParser(this.annotated, written, properties, this.parameters).parse()) {
			if (each instanceof LiteralExpression) {
				text += each.getExpressionString();
			}
			else {
				parts.add(new Part(written, text, each, argument(each)));
				text = "";
			}
		}
		if (!text.isEmpty()) {
			parts.add(new Part(written, text, null, -1));
		}
		return List.copyOf(parts);
	}

	/**
	 * Returns the index of the parameter that an expression consists of, or -1 for any
	 * other expression.
	 */
	private int argument(Expression expression) {
		SpelNode node = (expression instanceof SpelExpression code) ? code.getAST() : null;
		String name = (node instanceof VariableReference) ? node.toStringAST().substring(1) : "root";
		return name.equals("root") ? -1 : this.parameters.getOrDefault(name, -1);
	}

	/**
	 * Returns the keys if they are the same for every call, otherwise {@code null}.
	 */
	@Nullable List<String> ifConstant() {
		return this.constant;
	}

	/**
	 * Returns the keys of one call, one for each element of a value that has several.
	 * @throws IllegalArgumentException if a value cannot be evaluated, is null, blank,
	 * empty or of a type that cannot be a key
	 */
	List<String> evaluate(Object target, Object[] args) {
		if (this.strings.size() == 1) {
			return evaluate(this.strings.get(0), target, args);
		}
		return this.strings.stream().flatMap((parts) -> evaluate(parts, target, args).stream()).toList();
	}

	private List<String> evaluate(List<Part> parts, Object target, Object[] args) {
		List<String> keys = texts(parts.get(0), target, args);
		for (int i = 1; i < parts.size(); i++) {
			keys = join(keys, texts(parts.get(i), target, args));
		}
		return keys;
	}

	private static List<String> join(List<String> keys, List<String> texts) {
		if (keys.size() == 1 && texts.size() == 1) {
			return List.of(keys.get(0).concat(texts.get(0)));
		}
		return keys.stream().flatMap((key) -> texts.stream().map(key::concat)).toList();
	}

	private List<String> texts(Part part, Object target, Object[] args) {
		Expression code = part.code;
		if (code == null) {
			return List.of(part.text);
		}
		Object value = (part.argument >= 0) ? args[part.argument] : value(part, code, target, args);
		try {
			return KeyText.of(part.text, value);
		}
		catch (IllegalArgumentException ex) {
			throw failed(part, code, String.valueOf(ex.getMessage()), ex);
		}
	}

	private @Nullable Object value(Part part, Expression code, Object target, Object[] args) {
		Method method = this.annotated.method();
		try {
			Object value = code.getValue(new KeyContext(this.shared, this.parameters,
					new KeyContext.Root(method, method.getName(), target, this.annotated.beanClass(), args)));
			if (code instanceof SpelExpression sum && KeyParser.isPlus(sum.getAST()) && !(value instanceof Number)) {
				throw new IllegalArgumentException("an operand is text, which a template joins: #{#a}#{#b}");
			}
			return value;
		}
		catch (RuntimeException ex) {
			List<Throwable> causes = LockException.causes(ex);
			throw failed(part, code, "could not be evaluated (" + causes.get(causes.size() - 1).getMessage() + ")", ex);
		}
	}

	private IllegalArgumentException failed(Part part, Expression code, String why, RuntimeException cause) {
		String expression = code.getExpressionString();
		String remedy = !why.equals("is null") ? ""
				: ": check it before the call, or write what to lock instead, (" + expression + " ?: 'none')";
		return new IllegalArgumentException(
				this.annotated.describe("key", part.written)
						+ (expression.equals(part.written) ? "" : ", of which " + expression) + " " + why + remedy,
				cause);
	}

	/**
	 * Registers the methods of the parameters, and the properties of their properties,
	 * for a native image.
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

	/**
	 * A part of a string of the annotation.
	 *
	 * @param written the whole string
	 * @param text the text with which the part begins
	 * @param code the expression that follows, {@code null} at the end of the string
	 * @param argument the index of the argument that the value is, -1 if the expression
	 * has to be evaluated
	 */
	private record Part(String written, String text, @Nullable Expression code, int argument) {
	}

}
