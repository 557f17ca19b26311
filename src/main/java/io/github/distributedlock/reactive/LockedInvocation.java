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
 * API: it is what the advice of this library implements. Used by many threads.
 */
public interface LockedInvocation {

	/**
	 * Asks for the lock without blocking. What the chain holds is re-entered, and nothing
	 * of the calling thread.
	 * @return the request: of a handle, or of an optional one if a call whose lock is
	 * busy is to be skipped. Cancelling it withdraws it, and releases a handle that it
	 * has not passed on.
	 */
	CompletableFuture<?> acquire();

	/**
	 * Runs the method, with the advice inside of the lock.
	 * @return its result
	 * @throws Throwable what it throws
	 */
	@Nullable Object proceed() throws Throwable;

	/**
	 * Answers a call whose lock could not be acquired.
	 * @param failure why
	 * @return the result of the fallback
	 * @throws Throwable what it throws, or the failure if there is no fallback for it
	 */
	@Nullable Object fallBack(LockException failure) throws Throwable;

	/**
	 * Looks at a value that is to be passed on.
	 * @param value the value
	 * @throws IllegalStateException if it outlives the lock
	 */
	void check(Object value);

	/**
	 * Whether a loss ends the subscription at once.
	 * @return whether it does
	 */
	boolean endsOnLoss();

	/**
	 * Whether a loss fails the call, and with it the transaction.
	 * @return whether it does
	 */
	boolean lossFails();

	/**
	 * Takes note that the lock is held until a transaction has completed.
	 */
	void joinsTransaction();

	/**
	 * What the call fails with, which a loss may decide. Throws nothing, whatever the
	 * handle does: the lock has yet to be released.
	 * @param failure what the method failed with, {@code null} if it did not
	 * @param handle the handle, still open
	 * @return what the call fails with, {@code null} if it does not
	 */
	@Nullable Throwable outcome(@Nullable Throwable failure, LockHandle handle);

	/**
	 * A result that takes the lock at each subscription. Elements are passed on at once,
	 * and an only value after the release, as the completion is.
	 * @param type the type of the method's result
	 * @return one of that type
	 */
	default Object result(ReactiveAdapter type) {
		Publisher<Object> locked = (
				subscriber) -> new LockedSubscription(Operators.toCoreSubscriber(subscriber), this, type).start();
		return type.fromPublisher(type.isMultiValue() ? Flux.from(locked) : Mono.fromDirect(locked));
	}

	/**
	 * A result that fails.
	 * @param type the type of the method's result
	 * @param failure what with
	 * @return one of that type
	 */
	static Object failed(ReactiveAdapter type, Throwable failure) {
		return type.fromPublisher(type.isMultiValue() ? Flux.error(failure) : Mono.error(failure));
	}

	/**
	 * A result that fails before it completes, and before its value, if the innermost
	 * lock of its chain was lost.
	 * @param type the type of the method's result
	 * @param result the result
	 * @return one of that type
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
