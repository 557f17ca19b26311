package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;
import redis.clients.jedis.exceptions.JedisClusterOperationException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link JedisClusterLane}.
 */
class JedisClusterLaneTests {

	private final AtomicInteger openings = new AtomicInteger();

	private final CountDownLatch giveUp = new CountDownLatch(1);

	@Test
	void nobodyWaitsForTheOthersToFindOutThatNoNodeAnswers() {
		JedisClusterLane lane = new JedisClusterLane(this::nodes, Duration.ofSeconds(1));
		List<Thread> threads = new ArrayList<>();
		List<CompletableFuture<?>> callers = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			callers.add(CompletableFuture.runAsync(() -> lane.run((connection) -> connection), (task) -> {
				Thread thread = new Thread(task);
				threads.add(thread);
				thread.start();
			}));
		}
		await().until(() -> threads.stream().allMatch((thread) -> thread.getState() == Thread.State.TIMED_WAITING));
		this.giveUp.countDown();
		assertThat(callers)
			.allSatisfy((caller) -> assertThatExceptionOfType(RuntimeException.class).isThrownBy(caller::join)
				.withCauseInstanceOf(UnsentException.class)
				.withRootCauseInstanceOf(JedisClusterOperationException.class));
		assertThat(this.openings).hasValue(1);
		lane.close();
	}

	private JedisNodes nodes() {
		this.openings.incrementAndGet();
		try {
			this.giveUp.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
		throw new JedisClusterOperationException("no node answers");
	}

}
