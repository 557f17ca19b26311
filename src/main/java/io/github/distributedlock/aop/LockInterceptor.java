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
import io.github.distributedlock.reactive.ReactiveType;
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

	private final Supplier<DistributedLock> supplier;

	private final TransactionBinding transactions = new TransactionBinding();

	private final MissedRuns missedRuns = new MissedRuns();

	private volatile @Nullable DistributedLock lock;

	LockInterceptor(LockDefinitionSource definitions, Supplier<DistributedLock> supplier) {
		this.definitions = definitions;
		this.supplier = supplier;
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		Object target = Objects.requireNonNull(invocation.getThis(), "An annotated method needs an object to run on");
		LockDefinition definition = this.definitions.find(invocation.getMethod(), target.getClass());
		if (definition == null) {
			return invocation.proceed();
		}
		if (definition.reactive() != null) {
			return defer((ProxyMethodInvocation) invocation, target, definition, definition.reactive());
		}
		LockRequest request = definition.template().request(target, invocation.getArguments());
		Supplier<@Nullable Object> skipped = definition.skipped();
		LockHandle handle;
		try {
			handle = (skipped != null) ? lock().tryAcquire(request).orElse(null) : acquire(request);
		}
		catch (LockNotAcquiredException | LockBackendException ex) {
			return fallBack(invocation, target, definition, ex);
		}
		if (handle == null) {
			logger.debug("{} is skipped, since lock {} is busy", definition.annotated().shortName(),
					LockException.printable(request.keys()));
			return (skipped != null) ? skipped.get() : null;
		}
		return proceed(invocation, definition, handle);
	}

	/*
	 * All failures of such a call are signals, that of its key, too.
	 */
	private Object defer(ProxyMethodInvocation invocation, Object target, LockDefinition definition,
			ReactiveType reactive) {
		LockRequest request;
		try {
			request = definition.template().request(target, invocation.getArguments());
		}
		catch (RuntimeException ex) {
			return reactive.failed(ex);
		}
		boolean scheduled = definition.scheduled() && MissedRuns.isScheduled();
		return reactive.locked(new ReactiveCall(invocation, target, definition, request, this::lock, this.transactions,
				this.missedRuns, scheduled));
	}

	private @Nullable Object fallBack(MethodInvocation invocation, Object target, LockDefinition definition,
			LockException failure) throws Throwable {
		FallbackMethod fallback = definition.fallback();
		if (fallback == null || !fallback.handles(failure)) {
			if (failure instanceof LockBackendException outage && MissedRuns.isScheduled()
					&& this.missedRuns.add(definition, outage)) {
				return null;
			}
			throw failure;
		}
		return fallback.invoke(target, invocation.getArguments(), failure);
	}

	private @Nullable Object proceed(MethodInvocation invocation, LockDefinition definition, LockHandle handle)
			throws Throwable {
		PendingRelease release = null;
		boolean leavesThread = false;
		Object result;
		try {
			this.missedRuns.end(definition);
			release = this.transactions.join(handle, definition);
			boolean inTransaction = release != null;
			result = definition.lossReaction().proceed(invocation, handle);
			definition.results().check(result);
			if (result instanceof CompletionStage<?> stage && StageBinding.isNeeded(stage, definition)) {
				release = (release != null) ? release : new PendingRelease(handle);
				result = StageBinding.attach(stage, definition, release);
				leavesThread = !inTransaction;
				definition.lossReaction().checkStage(definition.annotated(), stage, result != stage);
			}
		}
		catch (Throwable ex) {
			close(handle, release, leavesThread, ex);
			throw ex;
		}
		done(handle, release, leavesThread);
		return result;
	}

	private static void done(LockHandle handle, @Nullable PendingRelease release, boolean leavesThread) {
		if (release == null) {
			handle.close();
		}
		else if (leavesThread) {
			release.doneHere();
		}
		else {
			release.done();
		}
	}

	private static void close(LockHandle handle, @Nullable PendingRelease release, boolean leavesThread,
			Throwable thrown) {
		try {
			done(handle, release, leavesThread);
		}
		catch (RuntimeException ex) {
			thrown.addSuppressed(ex);
		}
	}

	private LockHandle acquire(LockRequest request) {
		LockHandle handle = lock().acquire(request);
		if (handle == null) {
			throw new IllegalStateException("DistributedLock " + lock().getClass().getName()
					+ " gave no handle for lock " + LockException.printable(request.keys())
					+ ". If it is a mock, let it give one:"
					+ " given(lock.acquire(any(LockRequest.class))).willReturn(mock(LockHandle.class)). Or have real"
					+ " locks in the test: distributed-lock.backend=memory");
		}
		return handle;
	}

	private DistributedLock lock() {
		DistributedLock known = this.lock;
		if (known == null) {
			known = this.supplier.get();
			this.lock = known;
		}
		return known;
	}

}
