package io.github.distributedlock.reactive;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.ContextView;

import org.springframework.core.ReactiveAdapter;

/**
 * One call of a method with a reactive result, which each subscription makes anew. No
 * API: the advice of this library implements this interface. Used by many threads.
 */
public interface LockedInvocation {

	/**
	 * Asks for the lock without blocking. Locks that the chain holds are re-entered, and
	 * none of the calling thread.
	 * @return the request: of a handle, or of an optional handle if a call whose lock is
	 * busy is to be skipped. Cancelling the request withdraws it, and releases a handle
	 * that the request has not passed on.
	 */
	CompletableFuture<?> acquire();

	/**
	 * Runs the method, with the advice inside of the lock.
	 * @return the result of the method
	 * @throws Throwable the exception of the method
	 */
	@Nullable Object proceed() throws Throwable;

	/**
	 * Answers a call whose lock could not be acquired.
	 * @param failure the reason
	 * @return the result of the fallback
	 * @throws Throwable the exception of the fallback, or the failure if no fallback
	 * handles the failure
	 */
	@Nullable Object fallBack(LockException failure) throws Throwable;

	/**
	 * Checks a value that is to be passed on.
	 * @param value the value
	 * @throws IllegalStateException if the value outlives the lock
	 */
	void check(Object value);

	/**
	 * Returns whether a loss ends the subscription at once.
	 * @return whether the subscription ends
	 */
	boolean endsOnLoss();

	/**
	 * Returns whether a loss fails the call, and with the call the transaction.
	 * @return whether the call fails
	 */
	boolean lossFails();

	/**
	 * Reports that the lock is held until a transaction has completed.
	 */
	void joinsTransaction();

	/**
	 * Returns the failure of the call, which a loss may decide. Throws nothing, whatever
	 * the handle does: the lock has yet to be released.
	 * @param failure the method's failure, {@code null} if the method succeeded
	 * @param handle the handle, still open
	 * @return the call's failure, {@code null} if the call succeeds
	 */
	@Nullable Throwable outcome(@Nullable Throwable failure, LockHandle handle);

	/**
	 * Returns a result that takes the lock at each subscription. Elements are passed on
	 * at once. A single value, like the completion, is passed on after the release.
	 * @param type the type of the method's result
	 * @return a result of that type
	 */
	default Object result(ReactiveAdapter type) {
		Publisher<Object> locked = (
				subscriber) -> new LockedSubscription(Operators.toCoreSubscriber(subscriber), this, type).start();
		return type.fromPublisher(type.isMultiValue() ? Flux.from(locked) : Mono.fromDirect(locked));
	}

	/**
	 * Returns a result that fails.
	 * @param type the type of the method's result
	 * @param failure the failure
	 * @return a result of that type
	 */
	static Object failed(ReactiveAdapter type, Throwable failure) {
		return type.fromPublisher(type.isMultiValue() ? Flux.error(failure) : Mono.error(failure));
	}

	/**
	 * Returns a result that fails before its completion, and before its single value, if
	 * the innermost lock of its chain was lost.
	 * @param type the type of the method's result
	 * @param result the method's result
	 * @return a result of that type
	 */
	static Object failingIfLost(ReactiveAdapter type, Object result) {
		Publisher<Object> source = type.toPublisher(result);
		Consumer<ContextView> check = (context) -> LockContext.current(context).ifPresent(LockHandle::checkHeld);
		return type.fromPublisher(type.isMultiValue()
				? Flux.deferContextual((context) -> Flux.from(source).doOnComplete(() -> check.accept(context)))
				: Mono.deferContextual(
						(context) -> Mono.fromDirect(source).doOnSuccess((value) -> check.accept(context))));
	}

}
