package io.github.distributedlock.docs;

// tag::reactive-page[]
import io.github.distributedlock.OnLost;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.reactive.LockContext;
import io.github.distributedlock.reactive.ReactiveDistributedLock;
import reactor.core.publisher.Mono;

import org.springframework.stereotype.Service;

@Service
public class Refunds {

	private final ReactiveDistributedLock lock;

	public Refunds(ReactiveDistributedLock lock) {
		this.lock = lock;
	}

	// The lock of this chain, before a step that cannot be undone.
	@DistributedLock(key = "order:#{#id}", onLost = OnLost.INTERRUPT)
	public Mono<String> refund(String id, Mono<String> transfer) {
		return Mono.deferContextual((context) -> {
			LockContext.current(context).orElseThrow().checkHeld();
			return transfer;
		});
	}

	// In code: held from the subscription until the source has ended.
	public Mono<String> refundAll(Mono<String> transfers) {
		return this.lock.execute("refunds", transfers);
	}

	// The same, without a wait: if the lock is busy, another source takes its place.
	public Mono<String> refundAllNow(Mono<String> transfers) {
		return this.lock.tryExecute("refunds", transfers, Mono.just("refunds are under way"));
	}

}
// end::reactive-page[]
