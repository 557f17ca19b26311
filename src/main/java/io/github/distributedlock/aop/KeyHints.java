package io.github.distributedlock.aop;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.ResolvableType;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.Elvis;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.Ternary;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.support.StandardTypeLocator;
import org.springframework.util.StringUtils;

/**
 * Finds the types that the keys of a method read from by reflection: those of its
 * parameters, of beans, and classes that are named; and what their properties and methods
 * lead to, as far as it is declared.
 */
final class KeyHints {

	private final AnnotatedMethod annotated;

	private final ParameterIndexes parameters;

	private final ReflectionHints hints;

	private final BeanFactory beans;

	KeyHints(AnnotatedMethod annotated, ParameterIndexes parameters, ReflectionHints hints, BeanFactory beans) {
		this.annotated = annotated;
		this.parameters = parameters;
		this.hints = hints;
		this.beans = beans;
	}

	/**
	 * Registers the types that an expression reads from.
	 */
	void register(SpelNode expression) {
		ResolvableType root = ResolvableType.forClass(KeyRoot.class);
		resolve(expression, root, root);
	}

	/**
	 * The type of a node, as far as it is known.
	 * @param on that of what a bare name is read from
	 * @param scope the same for an argument: the element of the innermost projection or
	 * selection, else the root
	 */
	private ResolvableType resolve(SpelNode node, ResolvableType on, ResolvableType scope) {
		if (node instanceof CompoundExpression) {
			ResolvableType type = on;
			for (int child = 0; child < node.getChildCount(); child++) {
				type = resolve(node.getChild(child), type, scope);
			}
			return type;
		}
		if (node instanceof Projection || node instanceof Selection) {
			ResolvableType each = each(on);
			ResolvableType result = resolve(node.getChild(0), each, each);
			if (node instanceof Projection) {
				return ResolvableType.forClassWithGenerics(List.class, result);
			}
			return (node.toStringAST().startsWith("?") || isMap(on)) ? on : each;
		}
		boolean takesArguments = node instanceof MethodReference || node instanceof Indexer
				|| node instanceof FunctionReference || node instanceof ConstructorReference;
		List<ResolvableType> children = new ArrayList<>();
		for (int child = 0; child < node.getChildCount(); child++) {
			children.add(resolve(node.getChild(child), takesArguments ? scope : on, scope));
		}
		return type(node, on, children);
	}

	private ResolvableType type(SpelNode node, ResolvableType on, List<ResolvableType> children) {
		if (node instanceof VariableReference) {
			return variable(node.toStringAST().substring(1), on);
		}
		if (node instanceof PropertyOrFieldReference property) {
			return property(property.getName(), on);
		}
		if (node instanceof MethodReference method) {
			return result(on, Set.of(method.getName()), method.getChildCount());
		}
		if (node instanceof Indexer) {
			return isMap(on) ? on.asMap().getGeneric(1) : each(on);
		}
		if (node instanceof BeanReference) {
			return bean(node.toStringAST().replaceAll("^@|'", ""));
		}
		if (node instanceof Elvis || node instanceof Ternary) {
			ResolvableType otherwise = children.get(children.size() - 1);
			ResolvableType first = children.get(children.size() - 2);
			return (first != ResolvableType.NONE) ? first : otherwise;
		}
		return (node instanceof TypeReference) ? named(node.getChild(0).toStringAST()) : ResolvableType.NONE;
	}

	private ResolvableType variable(String name, ResolvableType on) {
		if (name.equals("this")) {
			return on;
		}
		Integer index = this.parameters.of(name);
		return (index != null)
				? ResolvableType.forMethodParameter(this.annotated.method(), index, this.annotated.beanClass())
				: ResolvableType.forClass(KeyRoot.class);
	}

	private ResolvableType property(String name, ResolvableType on) {
		Class<?> type = register(on);
		if (type == KeyRoot.class && name.equals("target")) {
			return ResolvableType.forClass(this.annotated.beanClass());
		}
		Field field = (type != null) ? field(type, name) : null;
		if (field != null) {
			this.hints.registerField(field);
			return ResolvableType.forField(field, on);
		}
		String end = StringUtils.capitalize(name);
		return result(on, Set.of("get" + end, "is" + end, name), 0);
	}

	private static @Nullable Field field(Class<?> type, String name) {
		return Arrays.stream(type.getFields()).filter((field) -> field.getName().equals(name)).findFirst().orElse(null);
	}

	private ResolvableType result(ResolvableType on, Set<String> names, int parameters) {
		Class<?> type = register(on);
		if (type == null) {
			return ResolvableType.NONE;
		}
		for (Method method : type.getMethods()) {
			if (names.contains(method.getName()) && method.getParameterCount() == parameters && !method.isBridge()) {
				return ResolvableType.forType(method.getGenericReturnType(), on);
			}
		}
		return ResolvableType.NONE;
	}

	private static boolean isMap(ResolvableType type) {
		return Map.class.isAssignableFrom(type.toClass());
	}

	/**
	 * The type of each element that a projection or a selection reads.
	 */
	private static ResolvableType each(ResolvableType on) {
		if (isMap(on)) {
			return ResolvableType.forClassWithGenerics(Map.Entry.class, on.asMap().getGenerics());
		}
		return on.isArray() ? on.getComponentType() : on.as(Iterable.class).getGeneric(0);
	}

	private ResolvableType bean(String name) {
		Class<?> type = this.beans.containsBean(name) ? this.beans.getType(name) : null;
		return (type != null) ? ResolvableType.forClass(type) : ResolvableType.NONE;
	}

	private ResolvableType named(String name) {
		try {
			return ResolvableType
				.forClass(new StandardTypeLocator(this.annotated.beanClass().getClassLoader()).findType(name));
		}
		catch (EvaluationException ex) {
			return ResolvableType.NONE;
		}
	}

	private @Nullable Class<?> register(ResolvableType read) {
		Class<?> type = read.resolve();
		if (type != null) {
			this.hints.registerType(type, MemberCategory.INVOKE_PUBLIC_METHODS);
		}
		return type;
	}

}
