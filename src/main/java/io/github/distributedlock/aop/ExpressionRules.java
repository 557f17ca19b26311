package io.github.distributedlock.aop;

import java.util.Arrays;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.expression.Expression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.CompoundExpression;
import org.springframework.expression.spel.ast.ConstructorReference;
import org.springframework.expression.spel.ast.FunctionReference;
import org.springframework.expression.spel.ast.Indexer;
import org.springframework.expression.spel.ast.InlineList;
import org.springframework.expression.spel.ast.Literal;
import org.springframework.expression.spel.ast.MethodReference;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.Projection;
import org.springframework.expression.spel.ast.PropertyOrFieldReference;
import org.springframework.expression.spel.ast.Selection;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;

/**
 * Looks through a parsed key expression for what can only fail, before it is ever called:
 * unknown variables, and words that were meant as text but are read as properties.
 */
final class ExpressionRules {

	private static final Set<String> ROOT_PROPERTIES = Set.of("method", "methodName", "target", "targetClass", "args");

	private final ParameterIndexes parameters;

	ExpressionRules(ParameterIndexes parameters) {
		this.parameters = parameters;
	}

	/**
	 * Whether an expression has the same value on every call.
	 */
	static boolean isConstant(Expression expression) {
		return expression instanceof LiteralExpression
				|| (expression instanceof SpelExpression spel && isConstant(spel.getAST()));
	}

	private static boolean isConstant(SpelNode node) {
		if (node instanceof InlineList || node instanceof OpPlus) {
			for (int child = 0; child < node.getChildCount(); child++) {
				if (!isConstant(node.getChild(child))) {
					return false;
				}
			}
			return true;
		}
		return node instanceof Literal;
	}

	/**
	 * Finds what is wrong with an expression.
	 * @return what is wrong and what to write instead, or {@code null}
	 */
	@Nullable Fault findFault(Expression expression) {
		return (expression instanceof SpelExpression spel) ? findFault(spel.getAST(), true, true) : null;
	}

	/**
	 * Finds what is wrong with a node.
	 * @param onRoot whether a bare name here means a property of the root
	 * @param inRoot whether a bare name in an argument or index here does; it does not
	 * inside a projection or selection, where it means a property of the element
	 */
	private @Nullable Fault findFault(SpelNode node, boolean onRoot, boolean inRoot) {
		Fault fault = findOwnFault(node, onRoot);
		for (int index = 0; fault == null && index < node.getChildCount(); index++) {
			SpelNode child = node.getChild(index);
			if (node instanceof Indexer && child instanceof PropertyOrFieldReference) {
				continue; // #map[word]: the word is the map's key
			}
			boolean childInRoot = inRoot && !(node instanceof Projection || node instanceof Selection);
			boolean childOnRoot;
			if (node instanceof CompoundExpression) {
				childOnRoot = onRoot && index == 0;
			}
			else if (node instanceof Indexer || node instanceof MethodReference
					|| node instanceof ConstructorReference) {
				childOnRoot = inRoot;
			}
			else {
				childOnRoot = onRoot;
			}
			fault = findFault(child, childOnRoot, childInRoot);
		}
		return fault;
	}

	private @Nullable Fault findOwnFault(SpelNode node, boolean onRoot) {
		if (node instanceof VariableReference) {
			String name = node.toStringAST().substring(1);
			boolean known = name.equals("this") || name.equals("root") || this.parameters.of(name) != null;
			return known ? null : new Fault("names the unknown parameter #" + name, this.parameters.remedy());
		}
		if (node instanceof FunctionReference) {
			return new Fault("calls the unknown function " + node.toStringAST(),
					"call a method of a parameter (#order.name()), a bean (@bean.name()) or a class (T(Type).name())");
		}
		if (onRoot && node instanceof PropertyOrFieldReference property
				&& !ROOT_PROPERTIES.contains(property.getName())) {
			return bare(property.getName());
		}
		if (onRoot && node instanceof MethodReference method && Arrays.stream(KeyRoot.class.getMethods())
			.noneMatch((candidate) -> candidate.getName().equals(method.getName()))) {
			return new Fault("calls " + method.getName() + "() on nothing",
					"write #root.target." + method.getName() + "() for a public method of the bean");
		}
		return null;
	}

	private Fault bare(String name) {
		String parameter = (this.parameters.of(name) != null) ? "#" + name + " for the parameter"
				: "#name for a parameter";
		return new Fault("reads the word " + name + " as a property of nothing",
				"write fixed text in quotes, and " + parameter);
	}

}
