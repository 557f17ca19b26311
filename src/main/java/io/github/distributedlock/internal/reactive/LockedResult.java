package io.github.distributedlock.internal.reactive;

import java.util.Optional;
import java.util.function.Consumer;

import io.github.distributedlock.LockHandle;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.ContextView;

import org.springframework.core.ReactiveAdapter;

/**
 * Results of methods in a lock, in the type that the method declares, and the lock of the
 * chain that leads to such a result.
 */
public final class LockedResult {

	private LockedResult() {
	}

	/**
	 * Returns the innermost open lock of a chain.
	 * @param context the context of the chain
	 * @return the handle, or empty if the chain is in no lock
	 */
	public static Optional<LockHandle> currentLock(ContextView context) {
		return ChainLocks.current(context);
	}

	/**
	 * Returns a result that takes the lock at each subscription. Elements are passed on
	 * at once. A single value, like the completion, is passed on after the release.
	 * @param type the type of the method's result
	 * @param invocation the call of the method
	 * @return a result of that type
	 */
	public static Object of(ReactiveAdapter type, LockedInvocation invocation) {
		Publisher<Object> locked = (
				subscriber) -> new LockedSubscription(Operators.toCoreSubscriber(subscriber), invocation, type).start();
		return type.fromPublisher(type.isMultiValue() ? Flux.from(locked) : Mono.fromDirect(locked));
	}

	/**
	 * Returns a result that fails.
	 * @param type the type of the method's result
	 * @param failure the failure
	 * @return a result of that type
	 */
	public static Object failed(ReactiveAdapter type, Throwable failure) {
		return type.fromPublisher(type.isMultiValue() ? Flux.error(failure) : Mono.error(failure));
	}

	/**
	 * Returns a result that fails before its completion, and before its single value, if
	 * the innermost lock of its chain was lost.
	 * @param type the type of the method's result
	 * @param result the method's result
	 * @return a result of that type
	 */
	public static Object failingIfLost(ReactiveAdapter type, Object result) {
		Publisher<Object> source = type.toPublisher(result);
		Consumer<ContextView> check = (context) -> ChainLocks.current(context).ifPresent(LockHandle::checkHeld);
		return type.fromPublisher(type.isMultiValue()
				? Flux.deferContextual((context) -> Flux.from(source).doOnComplete(() -> check.accept(context)))
				: Mono.deferContextual(
						(context) -> Mono.fromDirect(source).doOnSuccess((value) -> check.accept(context))));
	}

}
