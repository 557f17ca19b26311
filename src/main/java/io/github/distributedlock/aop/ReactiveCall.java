package io.github.distributedlock.aop;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.annotation.OnLost;
import io.github.distributedlock.reactive.LockedInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.core.ReactiveAdapter;

/**
 * A call whose result takes the lock at each subscription. Immutable.
 * <p>
 * The clones of the invocation share its attributes, a map of Spring's that is not for
 * several threads. Aspects that bind arguments write to it while the method is called.
 * The subscriptions of one result, which have the same keys, call it one after the other;
 * those of a shared lock may not, and write the same then.
 *
 * @param advice gives the lock when a subscription asks for it, and not before, since a
 * scheduler calls methods while beans are made
 * @param invocation the call, of which only clones proceed: otherwise a second
 * subscription would skip the advice inside of the lock
 * @param target what the method is called on
 * @param definition what the annotation means
 * @param request what the call asks for
 */
record ReactiveCall(LockInterceptor advice, ProxyMethodInvocation invocation, Object target, LockDefinition definition,
		LockRequest request) implements LockedInvocation {

	/**
	 * The result of a call. All its failures are signals, that of its key, too.
	 */
	static Object result(LockInterceptor advice, ProxyMethodInvocation invocation, Object target,
			LockDefinition definition) {
		ReactiveAdapter type = Objects.requireNonNull(definition.reactive());
		LockRequest request;
		try {
			request = definition.template().request(target, invocation.getArguments());
		}
		catch (RuntimeException ex) {
			return LockedInvocation.failed(type, ex);
		}
		return new ReactiveCall(advice, invocation, target, definition, request).result(type);
	}

	@Override
	public CompletableFuture<?> acquire() {
		DistributedLock lock = this.advice.lock(this.definition);
		return LockInterceptor.requireAnswer((this.definition.skipped() != null) ? lock.tryAcquireAsync(this.request)
				: lock.acquireAsync(this.request), this.request);
	}

	@Override
	public @Nullable Object proceed() throws Throwable {
		try (NestedProxies.Locked locked = NestedProxies.lock(this.invocation)) {
			// As if it were called here: for advice of aspects.
			return ExposeInvocationInterceptor.INSTANCE.invoke(this.invocation.invocableClone());
		}
	}

	@Override
	public @Nullable Object fallBack(LockException failure) throws Throwable {
		return LockInterceptor.fallBack(this.definition, this.target, this.invocation.getArguments(), failure);
	}

	@Override
	public void check(Object value) {
		this.definition.results().checkContent(value);
	}

	@Override
	public boolean endsOnLoss() {
		return this.definition.lossReaction().onLost() == OnLost.INTERRUPT;
	}

	@Override
	public boolean lossFails() {
		return this.definition.lossReaction().fails();
	}

	@Override
	public void joinsTransaction() {
		this.advice.warnOfTransaction(this.definition);
	}

	@Override
	public @Nullable Throwable outcome(@Nullable Throwable failure, LockHandle handle) {
		return this.definition.lossReaction().outcome(failure, handle);
	}

	@Override
	public String toString() {
		return this.definition.annotated().toString();
	}

}
