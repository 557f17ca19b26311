package io.github.distributedlock.reactive;

import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;

/**
 * At most one value, which is passed on after the release.
 */
final class LockedMono extends Mono<Object> {

	private final LockedInvocation invocation;

	private final ReactiveType type;

	private LockedMono(LockedInvocation invocation, ReactiveType type) {
		this.invocation = invocation;
		this.type = type;
	}

	static Mono<Object> of(LockedInvocation invocation, ReactiveType type) {
		return onAssembly(new LockedMono(invocation, type));
	}

	@Override
	public void subscribe(CoreSubscriber<? super Object> actual) {
		new LockedSubscription(actual, this.invocation, this.type).start();
	}

}
