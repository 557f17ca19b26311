package io.github.distributedlock.aop;

import java.util.Objects;

import io.github.distributedlock.reactive.ReactiveType;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Lets a reactive result whose lock was lost fail where it is made, if its annotation
 * says {@link io.github.distributedlock.annotation.OnLost#THROW}: inside of what commits
 * a transaction when it completes, which then rolls back. A blocking method needs none,
 * since a {@link CommitGuard} finds its lock by the thread.
 */
final class CommitCheck implements MethodInterceptor {

	private final LockDefinitionSource definitions;

	CommitCheck(LockDefinitionSource definitions) {
		this.definitions = definitions;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Object result = invocation.proceed();
		ReactiveType reactive = typeOf(
				this.definitions.find(invocation.getMethod(), Objects.requireNonNull(invocation.getThis()).getClass()));
		return (reactive != null && result != null) ? reactive.failingIfLost(result) : result;
	}

	/**
	 * The reactive type of methods that are concerned.
	 */
	static @Nullable ReactiveType typeOf(@Nullable LockDefinition definition) {
		return (definition != null && definition.lossReaction().fails()) ? definition.reactive() : null;
	}

}
