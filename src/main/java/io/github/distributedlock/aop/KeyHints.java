package io.github.distributedlock.aop;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
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
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
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
		resolve(expression, ResolvableType.forClass(KeyRoot.class));
	}

	/**
	 * The type of a node, as far as it is known.
	 * @param on that of what a bare name is read from
	 */
	private ResolvableType resolve(SpelNode node, ResolvableType on) {
		if (node instanceof CompoundExpression) {
			ResolvableType type = on;
			for (int child = 0; child < node.getChildCount(); child++) {
				type = resolve(node.getChild(child), type);
			}
			return type;
		}
		if (node instanceof Projection) {
			return ResolvableType.forClassWithGenerics(List.class, resolve(node.getChild(0), element(on)));
		}
		if (node instanceof Selection) {
			resolve(node.getChild(0), element(on));
			return node.toStringAST().startsWith("?") ? on : element(on);
		}
		ResolvableType root = ResolvableType.forClass(KeyRoot.class);
		for (int child = 0; child < node.getChildCount(); child++) {
			resolve(node.getChild(child), root);
		}
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
			return element(on);
		}
		if (node instanceof BeanReference) {
			return bean(node.toStringAST().substring(1).replace("'", ""));
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

	private static ResolvableType element(ResolvableType on) {
		if (on.isArray()) {
			return on.getComponentType();
		}
		Class<?> type = on.resolve();
		return (type != null && Map.class.isAssignableFrom(type)) ? on.asMap().getGeneric(1)
				: on.as(Iterable.class).getGeneric(0);
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
