package io.github.distributedlock.aop;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;

import io.github.distributedlock.DistributedLock;
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
 *
 * @param invocation the call, which is never proceeded with itself: a second subscription
 * would pass by the advice inside of the lock
 * @param target what the method is called on
 * @param definition what the annotation means
 * @param request what the call asks for
 * @param lock what it is asked of
 * @param transactions warns of calls inside a transaction
 */
record ReactiveCall(ProxyMethodInvocation invocation, Object target, LockDefinition definition, LockRequest request,
		DistributedLock lock, TransactionBinding transactions) implements LockedInvocation {

	private static final Logger logger = LoggerFactory.getLogger(LockInterceptor.class);

	@Override
	public Future<?> acquire(BiConsumer<@Nullable LockHandle, @Nullable Throwable> answer) {
		if (this.definition.skipped() == null) {
			CompletableFuture<LockHandle> asked = requireFuture(this.lock.acquireAsync(this.request));
			asked.whenComplete(answer);
			return asked;
		}
		CompletableFuture<Optional<LockHandle>> asked = requireFuture(this.lock.tryAcquireAsync(this.request));
		asked.whenComplete(
				(found, failure) -> answer.accept((found != null) ? found.orElseGet(this::skip) : null, failure));
		return asked;
	}

	private <T> CompletableFuture<T> requireFuture(@Nullable CompletableFuture<T> asked) {
		if (asked == null) {
			throw new IllegalStateException("DistributedLock " + this.lock.getClass().getName()
					+ " gave no future for lock " + LockException.printable(this.request.keys())
					+ ". If it is a mock, let it give one: given(lock.acquireAsync(any(LockRequest.class)))"
					+ ".willReturn(CompletableFuture.completedFuture(mock(LockHandle.class))). Or have real locks in"
					+ " the test: distributed-lock.backend=memory");
		}
		return asked;
	}

	private @Nullable LockHandle skip() {
		logger.debug("{} is skipped, since lock {} is busy", this.definition.annotated().shortName(),
				LockException.printable(this.request.keys()));
		return null;
	}

	@Override
	public @Nullable Object proceed() throws Throwable {
		// As if it were called here: for advice of aspects.
		return ExposeInvocationInterceptor.INSTANCE.invoke(this.invocation.invocableClone());
	}

	@Override
	public @Nullable Object fallBack(LockException failure) throws Throwable {
		FallbackMethod fallback = this.definition.fallback();
		if (fallback == null || !fallback.handles(failure)) {
			throw failure;
		}
		return fallback.invoke(this.target, this.invocation.getArguments(), failure);
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
