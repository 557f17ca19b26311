package io.github.distributedlock.backend.redis;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

class UnansweredRenewalsTests {

	private final UnansweredRenewals unanswered = new UnansweredRenewals();

	@Test
	void theShortestLeaseThatMayStillBeCarriedOutCounts() {
		renew("a", 30, true);
		renew("a", 20, false);
		renew("a", 10, true);
		renew("a", 20, true);
		renew("b", 60, true);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> renew("a", 30, true))
			.withMessageContaining("'stock' cannot be renewed for 30 s")
			.withMessageContaining("for 20 s")
			.satisfies((failure) -> assertThat(failure.isWithoutEffect()).isTrue());
		this.unanswered.forget("a");
		renew("a", 30, true);
	}

	@Test
	void renewalsOfOneOwnerFollowEachOther() throws Exception {
		this.unanswered.begin("stock", "a", 30 * 1000);
		CompletableFuture<Void> second = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			this.unanswered.begin("stock", "a", 20 * 1000);
			second.complete(null);
		});
		thread.start();
		await().until(() -> thread.getState() == Thread.State.WAITING);
		renew("b", 30, true);
		assertThat(second).isNotDone();
		this.unanswered.end("a", 30 * 1000, true);
		second.get(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS);
	}

	private void renew(String owner, long seconds, boolean answered) {
		this.unanswered.begin("stock", owner, seconds * 1000);
		this.unanswered.end(owner, seconds * 1000, answered);
	}

}
