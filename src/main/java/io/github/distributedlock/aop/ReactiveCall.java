package io.github.distributedlock.aop;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.LockException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.OnLost;
import io.github.distributedlock.internal.Requests;
import io.github.distributedlock.internal.reactive.LockedInvocation;
import io.github.distributedlock.internal.reactive.LockedResult;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.core.ReactiveAdapter;

/**
 * A call whose result takes the lock at each subscription. Immutable.
 * <p>
 * The clones of the invocation share its attributes, a map of Spring's that is not
 * thread-safe. Aspects that bind arguments write to the map while the method is called.
 * The subscriptions of one result have the same keys, so that they call the method one
 * after the other. With a shared lock, subscriptions may call the method at the same
 * time, and then write the same values.
 *
 * @param definitions asked for the lock at each subscription
 * @param invocation the call, of which only clones proceed: otherwise a second
 * subscription would skip the advice inside of the lock
 * @param target the object on which the method is called
 * @param definition the meaning of the annotation
 * @param request the request of the call
 */
record ReactiveCall(LockDefinitionSource definitions, ProxyMethodInvocation invocation, Object target,
		LockDefinition definition, LockRequest request) implements LockedInvocation {

	/**
	 * Returns the result of a call. All failures of the call are signals, also the
	 * failure to evaluate the key.
	 */
	static Object result(LockDefinitionSource definitions, ProxyMethodInvocation invocation, Object target,
			LockDefinition definition) {
		ReactiveAdapter type = Objects.requireNonNull(definition.reactive());
		LockRequest request;
		try {
			request = definition.template().request(target, invocation.getArguments());
		}
		catch (RuntimeException ex) {
			return LockedResult.failed(type, ex);
		}
		return LockedResult.of(type, new ReactiveCall(definitions, invocation, target, definition, request));
	}

	@Override
	public CompletableFuture<?> acquire() {
		return Requests.acquireAsync(this.definitions.lockOf(this.definition), this.request,
				this.definition.skipped() != null);
	}

	@Override
	public @Nullable Object proceed() throws Throwable {
		try (NestedProxies.Locked locked = NestedProxies.lock(this.invocation)) {
			// The invocation is exposed as if the call were made here, for the advice of
			// aspects.
			return ExposeInvocationInterceptor.INSTANCE.invoke(this.invocation.invocableClone());
		}
	}

	@Override
	public @Nullable Object fallBack(LockException failure) throws Throwable {
		return this.definition.fallBack(this.target, this.invocation.getArguments(), failure);
	}

	@Override
	public void check(Object value) {
		this.definition.results().checkContent(value);
	}

	@Override
	public OnLost onLost() {
		return this.definition.lossReaction().onLost();
	}

	@Override
	public void joinsTransaction() {
		this.definitions.warnOfTransaction(this.definition);
	}

	@Override
	public String toString() {
		return this.definition.annotated().toString();
	}

}
