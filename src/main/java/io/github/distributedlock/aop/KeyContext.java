package io.github.distributedlock.aop;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.expression.BeanResolver;
import org.springframework.expression.ConstructorResolver;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.IndexAccessor;
import org.springframework.expression.MethodResolver;
import org.springframework.expression.OperatorOverloader;
import org.springframework.expression.PropertyAccessor;
import org.springframework.expression.TypeComparator;
import org.springframework.expression.TypeConverter;
import org.springframework.expression.TypeLocator;
import org.springframework.expression.TypedValue;

/**
 * One call as expressions see it. Only the root and the variables belong to the call; the
 * rest, which caches what it learns by reflection, is shared by all calls.
 * <p>
 * Not a {@code MethodBasedEvaluationContext}: it keeps a context of its own for each
 * call, copies the arguments into it under three names each, and answers null for a name
 * that no parameter has, which would be one key for all. Here such a name is refused when
 * the annotation is read.
 */
final class KeyContext implements EvaluationContext {

	private final EvaluationContext shared;

	private final ParameterIndexes parameters;

	private final @Nullable Object[] args;

	private final TypedValue root;

	KeyContext(EvaluationContext shared, ParameterIndexes parameters, KeyRoot root) {
		this.shared = shared;
		this.parameters = parameters;
		this.args = root.getArgs();
		this.root = new TypedValue(root);
	}

	@Override
	public TypedValue getRootObject() {
		return this.root;
	}

	@Override
	public @Nullable Object lookupVariable(String name) {
		Integer index = this.parameters.of(name);
		return (index != null) ? this.args[index] : null;
	}

	@Override
	public void setVariable(String name, @Nullable Object value) {
		throw new UnsupportedOperationException("A key expression must not set #" + name);
	}

	@Override
	public boolean isAssignmentEnabled() {
		return false;
	}

	@Override
	public List<PropertyAccessor> getPropertyAccessors() {
		return this.shared.getPropertyAccessors();
	}

	@Override
	public List<IndexAccessor> getIndexAccessors() {
		return this.shared.getIndexAccessors();
	}

	@Override
	public List<ConstructorResolver> getConstructorResolvers() {
		return this.shared.getConstructorResolvers();
	}

	@Override
	public List<MethodResolver> getMethodResolvers() {
		return this.shared.getMethodResolvers();
	}

	@Override
	public @Nullable BeanResolver getBeanResolver() {
		return this.shared.getBeanResolver();
	}

	@Override
	public TypeLocator getTypeLocator() {
		return this.shared.getTypeLocator();
	}

	@Override
	public TypeConverter getTypeConverter() {
		return this.shared.getTypeConverter();
	}

	@Override
	public TypeComparator getTypeComparator() {
		return this.shared.getTypeComparator();
	}

	@Override
	public OperatorOverloader getOperatorOverloader() {
		return this.shared.getOperatorOverloader();
	}

}
