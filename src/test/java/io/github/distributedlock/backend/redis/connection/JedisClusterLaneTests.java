package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.backend.redis.wire.UnsentException;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.exceptions.JedisClusterOperationException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link JedisClusterLane}.
 */
class JedisClusterLaneTests {

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	private final AtomicInteger openings = new AtomicInteger();

	private final CountDownLatch giveUp = new CountDownLatch(1);

	@Test
	void nobodyWaitsForTheOthersToFindOutThatNoNodeAnswers() {
		JedisClusterLane lane = new JedisClusterLane(this::nodes, Duration.ofSeconds(1));
		List<CompletableFuture<?>> callers = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			callers.add(CompletableFuture.runAsync(() -> lane.run((link) -> link), this.threads));
		}
		await().until(() -> this.threads.all()
			.stream()
			.allMatch((thread) -> thread.getState() == Thread.State.TIMED_WAITING));
		this.giveUp.countDown();
		assertThat(callers).allSatisfy((caller) -> assertThatExceptionOfType(RuntimeException.class)
			.isThrownBy(() -> Patience.get(caller, "its failure"))
			.withCauseInstanceOf(UnsentException.class)
			.withRootCauseInstanceOf(JedisClusterOperationException.class));
		assertThat(this.openings).hasValue(1);
		lane.close();
	}

	private JedisNodes nodes() {
		this.openings.incrementAndGet();
		Patience.await(this.giveUp, "to give up");
		throw new JedisClusterOperationException("no node answers");
	}

}
