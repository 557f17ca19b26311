package io.github.distributedlock.aop;

import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.internal.Requests;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.ProxyMethodInvocation;

/**
 * Runs an annotated method inside its lock.
 */
class LockInterceptor implements MethodInterceptor {

	private static final Logger logger = LoggerFactory.getLogger(LockInterceptor.class);

	private final LockDefinitionSource definitions;

	LockInterceptor(LockDefinitionSource definitions) {
		this.definitions = definitions;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Objects.requireNonNull(invocation.getThis(), "An annotated method needs an object to run on");
		Object target = NestedProxies.isLocked(invocation) ? null : NestedProxies.lockedTarget(invocation, this);
		LockDefinition definition = (target != null) ? this.definitions.find(invocation.getMethod(), target.getClass())
				: null;
		if (target == null || definition == null) {
			return invocation.proceed();
		}
		if (definition.reactive() != null) {
			return ReactiveCall.result(this.definitions, (ProxyMethodInvocation) invocation, target, definition);
		}
		LockRequest request = definition.template().request(target, invocation.getArguments());
		Supplier<@Nullable Object> skipped = definition.skipped();
		LockHandle handle;
		try {
			DistributedLock lock = this.definitions.lockOf(definition);
			handle = (skipped != null) ? Requests.requireAnswer(lock.tryAcquire(request), request).orElse(null)
					: Requests.requireAnswer(lock.acquire(request), request);
		}
		catch (LockNotAcquiredException | LockBackendException ex) {
			return definition.fallBack(target, invocation.getArguments(), ex);
		}
		if (handle == null) {
			logger.debug("{} is skipped, since lock {} is busy", definition.annotated().shortName(),
					LockException.printable(request.keys()));
			return (skipped != null) ? skipped.get() : null;
		}
		try (PendingRelease release = new PendingRelease(handle);
				NestedProxies.Locked locked = NestedProxies.lock(invocation)) {
			if (PendingRelease.hasTransaction()) {
				this.definitions.warnOfTransaction(definition);
				release.joinTransaction(definition.lossReaction().fails());
			}
			Object result = definition.lossReaction().proceed(invocation, handle);
			definition.results().check(result);
			return (result instanceof CompletionStage<?> stage) ? release.follow(stage, definition) : result;
		}
	}

}
