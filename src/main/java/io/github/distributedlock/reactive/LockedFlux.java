package io.github.distributedlock.reactive;

import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;

/**
 * Elements, which are passed on at once, and a completion, which is after the release.
 */
final class LockedFlux extends Flux<Object> {

	private final LockedInvocation invocation;

	private final ReactiveType type;

	private LockedFlux(LockedInvocation invocation, ReactiveType type) {
		this.invocation = invocation;
		this.type = type;
	}

	static Flux<Object> of(LockedInvocation invocation, ReactiveType type) {
		return onAssembly(new LockedFlux(invocation, type));
	}

	@Override
	public void subscribe(CoreSubscriber<? super Object> actual) {
		new LockedSubscription(actual, this.invocation, this.type).start();
	}

}
