package io.github.distributedlock.reactive;

import java.util.Objects;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;

/**
 * How results of a type are subscribed to, and made. No API: public only for the advice
 * of this library. Immutable.
 */
public final class ReactiveType {

	private final ReactiveAdapter adapter;

	private ReactiveType(ReactiveAdapter adapter) {
		this.adapter = adapter;
	}

	/**
	 * The type that is declared so.
	 * @param declared what a method returns
	 * @return the type, {@code null} if Spring does not know it, or only one above it, of
	 * which the caller could not be given any; or if it does not wait for a subscription
	 */
	public static @Nullable ReactiveType of(Class<?> declared) {
		ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(declared);
		boolean usable = adapter != null && adapter.getReactiveType() == declared
				&& adapter.getDescriptor().isDeferred();
		return usable ? new ReactiveType(Objects.requireNonNull(adapter)) : null;
	}

	/**
	 * The type that Spring's proxies make of a {@code suspend} function.
	 * @param flow whether its result is a Kotlin {@code Flow}
	 * @return the type
	 */
	public static ReactiveType ofSuspending(boolean flow) {
		return Objects.requireNonNull(of(flow ? Flux.class : Mono.class));
	}

	/**
	 * Whether a result may have no value.
	 * @return whether a call can be skipped
	 */
	public boolean supportsEmpty() {
		return this.adapter.supportsEmpty();
	}

	/**
	 * A result that takes the lock at each subscription.
	 * @param invocation what to call inside of it
	 * @return the result
	 */
	public Object locked(LockedInvocation invocation) {
		return this.adapter
			.fromPublisher(isMultiValue() ? LockedFlux.of(invocation, this) : LockedMono.of(invocation, this));
	}

	/**
	 * A result that fails.
	 * @param failure what with
	 * @return the result
	 */
	public Object failed(Throwable failure) {
		return this.adapter.fromPublisher(isMultiValue() ? Flux.error(failure) : Mono.error(failure));
	}

	/**
	 * A result that fails before it completes, and before its value, if the innermost
	 * lock of its chain was lost.
	 * @param result the result
	 * @return one of the same type
	 */
	public Object failingIfLost(Object result) {
		Publisher<Object> source = toPublisher(result);
		return this.adapter.fromPublisher(isMultiValue()
				? Flux
					.deferContextual((context) -> Flux.from(source).doOnComplete(() -> LockContext.checkHeld(context)))
				: Mono.deferContextual(
						(context) -> Mono.fromDirect(source).doOnSuccess((value) -> LockContext.checkHeld(context))));
	}

	boolean isMultiValue() {
		return this.adapter.isMultiValue();
	}

	/**
	 * Calls a method when it is subscribed to, in the context of the subscriber.
	 * @param method the method
	 * @param name of the method, for people
	 */
	Publisher<Object> defer(MethodCall method, Object name) {
		// The context is there. But thread-locals are restored where one is written.
		return isMultiValue() ? Flux.defer(() -> call(method, name)).contextWrite(UnaryOperator.identity())
				: Mono.defer(() -> Mono.fromDirect(call(method, name))).contextWrite(UnaryOperator.identity());
	}

	private Publisher<Object> call(MethodCall method, Object name) {
		try {
			return toPublisher(Objects.requireNonNull(method.call(), () -> name + ": the method has returned null"));
		}
		catch (Throwable ex) {
			// An Error, too: what Reactor lets through would keep the lock for ever.
			return Mono.error(ex);
		}
	}

	private Publisher<Object> toPublisher(Object result) {
		return this.adapter.toPublisher(result);
	}

	/**
	 * Calls a method, or its fallback.
	 */
	interface MethodCall {

		@Nullable Object call() throws Throwable;

	}

}
