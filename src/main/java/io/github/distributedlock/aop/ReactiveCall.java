package io.github.distributedlock.aop;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.annotation.OnLost;
import io.github.distributedlock.reactive.LockedInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;

/**
 * A call whose result takes the lock at each subscription. Immutable.
 * <p>
 * The clones of the invocation share its attributes, a map of Spring's that is not for
 * several threads. Aspects that bind arguments write to it while the method is called.
 * The subscriptions of one result, which have the same keys, call it one after the other;
 * those of a shared lock may not, and write the same then.
 *
 * @param invocation the call, which is never proceeded with itself: a second subscription
 * would pass by the advice inside of the lock
 * @param target what the method is called on
 * @param definition what the annotation means
 * @param request what the call asks for
 * @param lock gives what it is asked of: not before a subscription, since a scheduler
 * calls methods while beans are made
 * @param transactions warns of calls inside a transaction
 * @param missedRuns the runs of scheduled methods that their store cannot serve
 * @param scheduled whether the scheduler has called the method, so that nobody would hear
 * of a failure
 */
record ReactiveCall(ProxyMethodInvocation invocation, Object target, LockDefinition definition, LockRequest request,
		Supplier<DistributedLock> lock, TransactionBinding transactions, MissedRuns missedRuns,
		boolean scheduled) implements LockedInvocation {

	private static final Logger logger = LoggerFactory.getLogger(LockInterceptor.class);

	@Override
	public Future<?> acquire(BiConsumer<@Nullable LockHandle, @Nullable Throwable> answer) {
		if (this.definition.skipped() == null) {
			CompletableFuture<LockHandle> asked = requireFuture(this.lock.get().acquireAsync(this.request));
			asked.whenComplete((handle, failure) -> tell(answer, handle, failure));
			return asked;
		}
		CompletableFuture<Optional<LockHandle>> asked = requireFuture(this.lock.get().tryAcquireAsync(this.request));
		asked.whenComplete((found, failure) -> tell(answer, (found != null) ? found.orElse(null) : null, failure));
		return asked;
	}

	private void tell(BiConsumer<@Nullable LockHandle, @Nullable Throwable> answer, @Nullable LockHandle handle,
			@Nullable Throwable failure) {
		boolean missed = false;
		try {
			missed = note(handle, failure);
		}
		finally {
			// Even if the log throws.
			answer.accept(handle, missed ? null : failure);
		}
	}

	/**
	 * Takes note of what came of the request.
	 * @return whether the failure is told by that
	 */
	private boolean note(@Nullable LockHandle handle, @Nullable Throwable failure) {
		if (handle != null) {
			this.missedRuns.end(this.definition);
		}
		else if (failure == null) {
			logger.debug("{} is skipped, since lock {} is busy", this.definition.annotated().shortName(),
					LockException.printable(this.request.keys()));
		}
		return this.scheduled && failure instanceof LockBackendException outage && fallback(outage) == null
				&& this.missedRuns.add(this.definition, outage);
	}

	private <T> CompletableFuture<T> requireFuture(@Nullable CompletableFuture<T> asked) {
		if (asked == null) {
			throw new IllegalStateException("DistributedLock " + this.lock.get().getClass().getName()
					+ " gave no future for lock " + LockException.printable(this.request.keys())
					+ ". If it is a mock, let it give one: given(lock.acquireAsync(any(LockRequest.class)))"
					+ ".willReturn(CompletableFuture.completedFuture(mock(LockHandle.class))). Or have real locks in"
					+ " the test: distributed-lock.backend=memory");
		}
		return asked;
	}

	@Override
	public @Nullable Object proceed() throws Throwable {
		// As if it were called here: for advice of aspects.
		return ExposeInvocationInterceptor.INSTANCE.invoke(this.invocation.invocableClone());
	}

	@Override
	public @Nullable Object fallBack(LockException failure) throws Throwable {
		FallbackMethod fallback = fallback(failure);
		if (fallback == null) {
			throw failure;
		}
		return fallback.invoke(this.target, this.invocation.getArguments(), failure);
	}

	private @Nullable FallbackMethod fallback(LockException failure) {
		FallbackMethod fallback = this.definition.fallback();
		return (fallback != null && fallback.handles(failure)) ? fallback : null;
	}

	@Override
	public void check(Object value) {
		this.definition.results().check(value);
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
		this.transactions.warn(this.definition.annotated());
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
