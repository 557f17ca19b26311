package io.github.distributedlock.aop;

import java.beans.PropertyDescriptor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.github.distributedlock.LockDefinitionException;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanUtils;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ResolvableType;
import org.springframework.core.env.PropertyResolver;
import org.springframework.expression.Expression;
import org.springframework.expression.ParseException;
import org.springframework.expression.ParserContext;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.spel.SpelCompilerMode;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.NullLiteral;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.SpelNodeImpl;
import org.springframework.expression.spel.ast.StringLiteral;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.StringUtils;

/**
 * Parses one string of the {@code key} attribute. Properties are inserted after text and
 * code were separated, and into code only between its quotes, so that properties are text
 * wherever they stand. A {@code +} with text is taken apart: its operands become parts of
 * the key, as those of a template do. Expressions that can only fail, and expressions
 * that could make text of {@code null}, are refused with a remedy.
 */
final class KeyParser extends SpelExpressionParser {

	/**
	 * Switches SpEL's compiler off, whatever the application has set: compiled code is
	 * made for the types of earlier calls, and fails with others.
	 */
	private static final SpelParserConfiguration CONFIGURATION = new SpelParserConfiguration(SpelCompilerMode.OFF,
			null);

	private static final Pattern QUOTED = Pattern.compile("'[^']*'|\"[^\"]*\"");

	private static final Pattern VARIABLE = Pattern.compile("#(\\w+)");

	private static final Pattern PROPERTY = Pattern.compile("\\$\\{[^}]*}?");

	/** Signs of an expression, as opposed to text with a property. */
	private static final Pattern CODE = Pattern.compile("['\"+#(]");

	private static final List<String> ROOT = List.of("method", "methodName", "target", "targetClass", "args");

	private final AnnotatedMethod annotated;

	private final String written;

	private final PropertyResolver properties;

	private final Map<String, Integer> parameters;

	private final boolean template;

	private final List<Expression> parts = new ArrayList<>();

	KeyParser(AnnotatedMethod annotated, String written, PropertyResolver properties, Map<String, Integer> parameters) {
		super(CONFIGURATION);
		this.annotated = annotated;
		this.written = written;
		this.properties = properties;
		this.parameters = parameters;
		this.template = written.contains("#{") || PROPERTY.matcher(written).matches()
				|| (written.contains("${") && !CODE.matcher(written).find());
	}

	/**
	 * Parses the string. The text that the author wrote decides whether the string is a
	 * template or an expression; the value of a property does not.
	 * @return the text and values of the string, one after the other
	 * @throws io.github.distributedlock.LockDefinitionException if the string can only
	 * fail
	 */
	List<Expression> parse() {
		Expression expression;
		try {
			expression = this.template ? parseExpression(this.written, ParserContext.TEMPLATE_EXPRESSION)
					: parseExpression(this.written);
		}
		catch (ParseException | IllegalStateException ex) {
			boolean open = this.template && this.written.indexOf('}', this.written.lastIndexOf("#{")) < 0;
			throw this.annotated.refuse("key", this.written,
					"is not a valid SpEL " + (this.template ? "template" : "expression") + ": " + ex.getMessage(),
					open ? "close it with }" : remedy(), ex);
		}
		for (Expression part : (expression instanceof CompositeStringExpression composite) ? composite.getExpressions()
				: new Expression[] { expression }) {
			if (part instanceof SpelExpression code) {
				add(code, code.getAST());
			}
			else {
				this.parts.add(new LiteralExpression(withProperties(part.getExpressionString())));
			}
		}
		if (this.parts.stream()
			.allMatch((part) -> part instanceof LiteralExpression && part.getExpressionString().isBlank())) {
			throw refuse("is blank", "write text that is not blank");
		}
		return this.parts;
	}

	/**
	 * Parses an expression. SpEL calls this method for the code of a template, too.
	 */
	@Override
	protected SpelExpression doParseExpression(String code, @Nullable ParserContext context) {
		Matcher bare = PROPERTY.matcher(QUOTED.matcher(code).replaceAll("''"));
		if (bare.find()) {
			String property = bare.group();
			throw refuse("has the property " + property + " outside of quotes", "write '" + property + "'");
		}
		return super.doParseExpression(QUOTED.matcher(code).replaceAll((quoted) -> {
			String quote = quoted.group().substring(0, 1);
			String text = withProperties(quoted.group().substring(1, quoted.group().length() - 1));
			return Matcher.quoteReplacement(quote + text.replace(quote, quote + quote) + quote);
		}), context);
	}

	private String withProperties(String text) {
		if (!text.contains("${")) {
			return text;
		}
		String resolved = this.annotated.resolve("key", this.written, text, this.properties);
		if (text.indexOf('}', text.lastIndexOf("${")) < 0 || resolved.contains("#{")
				|| VARIABLE.matcher(resolved)
					.results()
					.anyMatch((variable) -> this.parameters.containsKey(variable.group(1)))) {
			throw this.annotated.refuse("key", this.written,
					"with its properties, \"" + resolved
							+ "\", reads like an expression, but a property is text, the same for all calls",
					"write the expression in the annotation");
		}
		return resolved;
	}

	/**
	 * Checks a node, and adds the node, or the operands of a {@code +}, to the parts of
	 * the key.
	 */
	private void add(SpelExpression code, SpelNode node) {
		if (node instanceof NullLiteral) {
			throw refuse("is null", "write text that is not blank");
		}
		if (isPlus(node) && isText(node)) {
			add(code, node.getChild(0));
			add(code, node.getChild(1));
		}
		else if (node instanceof Literal literal) {
			this.parts.add(new LiteralExpression(String.valueOf(literal.getLiteralValue().getValue())));
		}
		else {
			check(node, true, true);
			ResolvableType type = declared(node);
			if (type != null && KeyText.isImpossible(type)) {
				throw this.annotated.refuse("key", this.written,
						"has the value " + node.toStringAST() + ", which is a " + type + KeyText.NO_TEXT, null);
			}
			this.parts.add((node == code.getAST()) ? code
					: new SpelExpression(node.toStringAST(), (SpelNodeImpl) node, CONFIGURATION));
		}
	}

	/**
	 * Returns the declared type of a parameter or of its properties, {@code null} if the
	 * declarations do not tell the type.
	 */
	private @Nullable ResolvableType declared(SpelNode node) {
		if (node instanceof VariableReference) {
			String name = node.toStringAST().substring(1);
			if (name.equals("root")) {
				return ResolvableType.forClass(KeyContext.Root.class);
			}
			Integer index = this.parameters.get(name);
			return (index != null)
					? ResolvableType.forMethodParameter(this.annotated.method(), index, this.annotated.beanClass())
					: null;
		}
		ResolvableType type = (node instanceof CompoundExpression) ? declared(node.getChild(0)) : null;
		for (int index = 1; type != null && index < node.getChildCount(); index++) {
			type = (node.getChild(index) instanceof PropertyOrFieldReference property)
					? declared(property.getName(), type) : null;
		}
		return type;
	}

	private @Nullable ResolvableType declared(String property, ResolvableType type) {
		Class<?> owner = type.toClass();
		// The getters in the order of SpEL.
		for (String getter : List.of("get" + StringUtils.capitalize(property), "is" + StringUtils.capitalize(property),
				"get" + property, "is" + property, property)) {
			Method method = ReflectionUtils.findMethod(owner, getter);
			if (method != null && Modifier.isPublic(method.getModifiers())) {
				return ResolvableType.forMethodReturnType(method, owner);
			}
		}
		// No subclass of a final class can add the property. An array has a length, and
		// SpEL looks into an Optional, and for static fields of the class that a Class
		// is.
		if (Modifier.isFinal(owner.getModifiers()) && !owner.isArray() && owner != Optional.class
				&& owner != Class.class
				&& Arrays.stream(owner.getFields()).noneMatch((field) -> field.getName().equals(property))) {
			Integer root = (owner == KeyContext.Root.class) ? this.parameters.get("root") : null;
			if (root != null) {
				throw refuse("names the parameter root by #root, which SpEL has for something else", "write #p" + root);
			}
			throw refuse("reads " + property + " of " + owner.getName() + ", which has no such property",
					remedyOfProperties(owner));
		}
		return null;
	}

	private String remedyOfProperties(Class<?> owner) {
		if (KotlinDetector.isKotlinType(this.annotated.beanClass())
				&& this.annotated.method().getName().contains("-")) {
			return "Kotlin passes what a value class wraps: write the parameter alone, such as #id";
		}
		return "it has " + (owner.isRecord() ? Arrays.stream(owner.getRecordComponents()).map(RecordComponent::getName)
				: Arrays.stream(BeanUtils.getPropertyDescriptors(owner))
					.map(PropertyDescriptor::getName)
					.filter((name) -> !name.equals("class")))
			.collect(Collectors.joining(", "));
	}

	static boolean isPlus(SpelNode node) {
		return node instanceof OpPlus && node.getChildCount() == 2;
	}

	/**
	 * Returns whether a node is certainly text, so that a {@code +} concatenates.
	 */
	private static boolean isText(SpelNode node) {
		return node instanceof StringLiteral
				|| (isPlus(node) && (isText(node.getChild(0)) || isText(node.getChild(1))));
	}

	/**
	 * Checks a node and its children.
	 * @param onRoot whether a bare name here means a property of the root
	 * @param inRoot whether a bare name in an argument or index here means a property of
	 * the root; inside a projection or selection such a name means a property of the
	 * element
	 */
	private void check(SpelNode node, boolean onRoot, boolean inRoot) {
		checkItself(node, onRoot);
		boolean childInRoot = inRoot && !(node instanceof Projection || node instanceof Selection);
		for (int index = 0; index < node.getChildCount(); index++) {
			SpelNode child = node.getChild(index);
			// In #map[word] the word is the map's key.
			if (!(node instanceof Indexer && child instanceof PropertyOrFieldReference)) {
				check(child, childInRoot && (index == 0 || !(node instanceof CompoundExpression)), childInRoot);
			}
		}
	}

	private void checkItself(SpelNode node, boolean onRoot) {
		if (node instanceof VariableReference) {
			String name = node.toStringAST().substring(1);
			if (!name.equals("this") && !name.equals("root") && !this.parameters.containsKey(name)) {
				throw refuse("names the unknown parameter #" + name, remedyOfNames());
			}
		}
		else if (node instanceof FunctionReference) {
			throw refuse("calls the unknown function " + node.toStringAST(),
					"call a method of a parameter (#order.name()), a bean (@bean.name()) or a class (T(Type).name())");
		}
		else if (onRoot && node instanceof PropertyOrFieldReference property && !ROOT.contains(property.getName())) {
			String name = property.getName();
			throw refuse("reads the word " + name + " as a property of nothing",
					"write fixed text in quotes, and " + (this.parameters.containsKey(name)
							? "#" + name + " for the parameter" : Character.isUpperCase(name.charAt(0))
									? "T(…." + name + "), with its package, for a class" : "#name for a parameter"));
		}
		else if (onRoot && node instanceof MethodReference method) {
			throw refuse("calls " + method.getName() + "() on nothing",
					"write #root.target." + method.getName() + "() for a public method of the bean");
		}
		else if (isPlus(node) && !isNumber(node.getChild(0)) && !isNumber(node.getChild(1))) {
			throw refuse("adds " + node.toStringAST() + ", which makes text of null if either is text",
					"write a template, \"#{#a}#{#b}\", or #a.concat(#b) inside of an expression,"
							+ " or T(Math).addExact(#a, #b) for a sum");
		}
	}

	private static boolean isNumber(SpelNode node) {
		return node instanceof Literal literal && literal.getLiteralValue().getValue() instanceof Number;
	}

	private LockDefinitionException refuse(String problem, String remedy) {
		String more = this.template ? null : remedy();
		return this.annotated.refuse("key", this.written, problem, remedy + ((more != null) ? "; " + more : ""));
	}

	private String remedyOfNames() {
		if (this.parameters.isEmpty()) {
			return "the method has no parameters; #root.target is the bean, for a property of the bean";
		}
		String known = this.parameters.keySet().stream().map("#"::concat).collect(Collectors.joining(", "));
		return !known.startsWith("#p0") ? "write one of " + known
				: "the parameter names of " + this.annotated.method().getDeclaringClass().getName()
						+ " are not in its class file: compile it with -parameters, or write " + known;
	}

	private @Nullable String remedy() {
		return (this.written.indexOf('\'') >= 0) ? null : "for a fixed key write \"'" + this.written
				+ "'\" in quotes, and for text with a value in it \"text:#{#value}\"";
	}

}
