package io.github.distributedlock.aop;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.LockRequest;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;

/**
 * Runs an annotated method inside its lock.
 */
class LockInterceptor implements MethodInterceptor {

	private static final Logger logger = LoggerFactory.getLogger(LockInterceptor.class);

	private final LockDefinitionSource definitions;

	private final Function<String, DistributedLock> beans;

	private final Map<String, DistributedLock> locks = new ConcurrentHashMap<>();

	private final Set<Method> calledInTransactions = ConcurrentHashMap.newKeySet();

	LockInterceptor(LockDefinitionSource definitions, Function<String, DistributedLock> beans) {
		this.definitions = definitions;
		this.beans = beans;
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
			return ReactiveCall.result(this, (ProxyMethodInvocation) invocation, target, definition);
		}
		LockRequest request = definition.template().request(target, invocation.getArguments());
		Supplier<@Nullable Object> skipped = definition.skipped();
		LockHandle handle;
		try {
			DistributedLock lock = lock(definition);
			handle = (skipped != null) ? lock.tryAcquire(request).orElse(null)
					: requireAnswer(lock.acquire(request), request);
		}
		catch (LockNotAcquiredException | LockBackendException ex) {
			return fallBack(definition, target, invocation.getArguments(), ex);
		}
		if (handle == null) {
			logger.debug("{} is skipped, since lock {} is busy", definition.annotated().shortName(),
					LockException.printable(request.keys()));
			return (skipped != null) ? skipped.get() : null;
		}
		try (PendingRelease release = new PendingRelease(handle);
				NestedProxies.Locked locked = NestedProxies.lock(invocation)) {
			if (PendingRelease.hasTransaction()) {
				warnOfTransaction(definition);
				release.joinTransaction(definition.lossReaction().fails());
			}
			Object result = definition.lossReaction().proceed(invocation, handle);
			definition.results().check(result);
			return (result instanceof CompletionStage<?> stage) ? release.follow(stage, definition) : result;
		}
	}

	/**
	 * Returns the result of a call whose lock could not be acquired.
	 * @throws Throwable an exception of the fallback, or the failure if no fallback
	 * handles the failure
	 */
	static @Nullable Object fallBack(LockDefinition definition, Object target, Object[] args, LockException failure)
			throws Throwable {
		FallbackMethod fallback = definition.fallback();
		if (fallback == null || !fallback.handles(failure)) {
			throw failure;
		}
		return fallback.invoke(target, args, failure);
	}

	/**
	 * Warns, once for each method, of a call inside a transaction.
	 */
	void warnOfTransaction(LockDefinition definition) {
		if (this.calledInTransactions.add(definition.annotated().method())) {
			logger.warn("{}: called inside a running transaction, so that the lock is held until that "
					+ "transaction has completed; to hold it for the method alone, call it before the transaction "
					+ "begins", definition.annotated());
		}
	}

	/**
	 * Returns the answer of the lock, or fails if there is none: such a lock is a mock
	 * that was given no answer.
	 */
	static <T> T requireAnswer(@Nullable T answer, LockRequest request) {
		if (answer == null) {
			throw new IllegalStateException("The DistributedLock gave no handle for lock "
					+ LockException.printable(request.keys()) + ". If it is a mock, let it give one, as by"
					+ " given(lock.acquire(any(LockRequest.class))).willReturn(mock(LockHandle.class)). Or have real"
					+ " locks in the test: distributed-lock.backend=memory");
		}
		return answer;
	}

	/**
	 * Returns the lock of a method. The bean is looked up at the first use.
	 * @throws LockDefinitionException if there is no such bean
	 */
	DistributedLock lock(LockDefinition definition) {
		DistributedLock known = this.locks.get(definition.store());
		if (known == null) {
			try {
				known = this.beans.apply(definition.store());
			}
			catch (NoSuchBeanDefinitionException | BeanNotOfRequiredTypeException ex) {
				throw this.definitions.refuseStore(definition, ex);
			}
			this.locks.put(definition.store(), known);
		}
		return known;
	}

}
