package io.github.distributedlock.backend.redis.atomic;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

class UnansweredRenewalsTests {

	private final UnansweredRenewals unanswered = new UnansweredRenewals();

	@Test
	void noLongerLeaseIsGrantedThanTheShortestThatMayStillBeCarriedOut() {
		renew("a", 30, true);
		renew("a", 20, false);
		renew("a", 10, true);
		renew("a", 20, true);
		renew("b", 60, true);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> renew("a", 30, true))
			.withMessageContaining("'stock' cannot be renewed for 30000 ms")
			.withMessageContaining("for 20000 ms")
			.satisfies((failure) -> assertThat(failure.isNotCarriedOut()).isTrue());
		this.unanswered.forget("a");
		renew("a", 30, true);
	}

	@Test
	void renewalsOfOneOwnerFollowEachOther() throws Exception {
		this.unanswered.begin(claim("a", 30));
		CompletableFuture<Void> second = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			this.unanswered.begin(claim("a", 20));
			second.complete(null);
		});
		thread.start();
		await().until(() -> thread.getState() == Thread.State.WAITING);
		renew("b", 30, true);
		assertThat(second).isNotDone();
		this.unanswered.end(claim("a", 30), true);
		second.get(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS);
	}

	private void renew(String owner, long seconds, boolean answered) {
		this.unanswered.begin(claim(owner, seconds));
		this.unanswered.end(claim(owner, seconds), answered);
	}

	private static Claim claim(String owner, long seconds) {
		return Claim.of("stock", owner, "here", Duration.ofSeconds(seconds));
	}

}
