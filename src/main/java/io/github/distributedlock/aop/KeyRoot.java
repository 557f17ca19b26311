package io.github.distributedlock.aop;

import java.lang.reflect.Method;

/**
 * What {@code #root} is in a key expression. Its getters are the names that may follow.
 */
final class KeyRoot {

	private final AnnotatedMethod annotated;

	private final Object target;

	private final Object[] args;

	KeyRoot(AnnotatedMethod annotated, Object target, Object[] args) {
		this.annotated = annotated;
		this.target = target;
		this.args = args;
	}

	public Method getMethod() {
		return this.annotated.method();
	}

	public String getMethodName() {
		return this.annotated.method().getName();
	}

	public Object getTarget() {
		return this.target;
	}

	public Class<?> getTargetClass() {
		return this.annotated.beanClass();
	}

	public Object[] getArgs() {
		return this.args;
	}

}
