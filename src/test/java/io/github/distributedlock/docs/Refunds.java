package io.github.distributedlock.docs;

// tag::reactive-page[]
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.annotation.OnLost;
import io.github.distributedlock.reactive.LockContext;
import reactor.core.publisher.Mono;

import org.springframework.stereotype.Service;

@Service
public class Refunds {

	private final io.github.distributedlock.DistributedLock lock;

	public Refunds(io.github.distributedlock.DistributedLock lock) {
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

	// In code: held until the stage completes, and no thread waits.
	public CompletableFuture<String> refundAll(Supplier<CompletionStage<String>> transfers) {
		return this.lock.executeAsync("refunds", transfers::get);
	}

}
// end::reactive-page[]
