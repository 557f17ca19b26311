package io.github.distributedlock.aop;

import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.expression.spel.support.StandardTypeLocator;

/**
 * The evaluation context of one call. Only the root and the variables belong to the call;
 * all calls share the rest, which caches the results of reflection.
 * <p>
 * This class is no {@code MethodBasedEvaluationContext}: that class answers null for a
 * name that no parameter has, and null would be one key for all calls. Here such a name
 * is refused when the annotation is read.
 */
final class KeyContext extends StandardEvaluationContext {

	private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();

	private final Map<String, Integer> parameters;

	private final @Nullable Object[] args;

	KeyContext(StandardEvaluationContext shared, Map<String, Integer> parameters, Root root) {
		super(root);
		this.parameters = parameters;
		this.args = root.args();
		// Not applyDelegatesTo, which copies each list.
		setPropertyAccessors(shared.getPropertyAccessors());
		setIndexAccessors(shared.getIndexAccessors());
		setMethodResolvers(shared.getMethodResolvers());
		setConstructorResolvers(shared.getConstructorResolvers());
		setTypeLocator(shared.getTypeLocator());
		setTypeConverter(shared.getTypeConverter());
		setBeanResolver(shared.getBeanResolver());
	}

	/**
	 * Creates the part of the context that all calls share.
	 */
	static StandardEvaluationContext shared(BeanFactory beans) {
		StandardEvaluationContext shared = new StandardEvaluationContext();
		shared.setTypeConverter(new KeyText.Converter());
		shared.setBeanResolver(new BeanFactoryResolver(beans));
		if (beans instanceof ConfigurableBeanFactory factory) {
			// The class loader of the beans, not that of the thread that happens to
			// evaluate the first key.
			shared.setTypeLocator(new StandardTypeLocator(factory.getBeanClassLoader()));
		}
		return shared;
	}

	/**
	 * Returns the indexes of a method's parameters by their names in expressions: by
	 * position, by the names of the implementation and, where the two differ, first of
	 * all by the names of the declaration that carries the annotation.
	 */
	static Map<String, Integer> parameters(AnnotatedMethod annotated) {
		Map<String, Integer> parameters = new LinkedHashMap<>();
		putNames(parameters, annotated.method());
		if (annotated.declaration() instanceof Method declaration) {
			putNames(parameters, declaration);
		}
		for (int index = 0; index < annotated.method().getParameterCount(); index++) {
			parameters.putIfAbsent("p" + index, index);
			parameters.putIfAbsent("a" + index, index);
		}
		return parameters;
	}

	private static void putNames(Map<String, Integer> parameters, Method method) {
		@Nullable String[] names = NAMES.getParameterNames(method);
		for (int index = 0; names != null && index < names.length; index++) {
			if (names[index] != null) {
				parameters.put(names[index], index);
			}
		}
	}

	@Override
	public @Nullable Object lookupVariable(String name) {
		Integer index = this.parameters.get(name);
		return (index != null) ? this.args[index] : null;
	}

	@Override
	public boolean isAssignmentEnabled() {
		return false;
	}

	/**
	 * The value of {@code #root}. Its components are the names that may follow.
	 */
	record Root(Method method, String methodName, Object target, Class<?> targetClass, Object[] args) {
	}

}
