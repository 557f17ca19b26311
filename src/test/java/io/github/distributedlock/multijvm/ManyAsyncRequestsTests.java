package io.github.distributedlock.multijvm;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Requests may wait in any number without a thread: those of the engine do not become
 * more, and each is served.
 */
@Tag("thorough")
class ManyAsyncRequestsTests {

	private static final int REQUESTS = 10_000;

	private static final int KEYS = 1_000;

	/**
	 * Without those of callbacks: mostly 4, more on a machine that has no time for them.
	 */
	private static final int MOST_THREADS = 20;

	private static final Duration WAIT = Duration.ofMinutes(5);

	@RegisterExtension
	private final TestRedis redis = new TestRedis();

	private final AtomicInteger mostThreads = new AtomicInteger();

	@ParameterizedTest
	@EnumSource(Client.class)
	void allForOneKey(Client client) {
		serves(client, (number) -> "k");
	}

	@ParameterizedTest
	@EnumSource(Client.class)
	void tenForEachOfManyKeys(Client client) {
		serves(client, (number) -> "k-" + number % KEYS);
	}

	/**
	 * Another JVM holds what all wait for, and gives it back when they do.
	 */
	private void serves(Client client, IntFunction<String> keys) {
		LockEngine other = this.redis.engine(client);
		List<LockHandle> held = IntStream.range(0, REQUESTS).mapToObj(keys).distinct().map(other::acquire).toList();
		Set<Thread> before = Set.copyOf(engineThreads().toList());
		LockEngine engine = this.redis.engine(client);
		AtomicInteger inside = new AtomicInteger();
		AtomicInteger tooMany = new AtomicInteger();
		List<CompletableFuture<Integer>> served = IntStream.range(0, REQUESTS)
			.mapToObj((number) -> engine.executeAsync(LockRequest.of(keys.apply(number)).waitTime(WAIT), () -> {
				if (inside.incrementAndGet() > held.size()) {
					tooMany.incrementAndGet();
				}
				inside.decrementAndGet();
				return CompletableFuture.completedFuture(number);
			}))
			.toList();
		await("all wait").until(() -> engine.requestsWaiting() == REQUESTS);
		count(before);
		held.forEach(LockHandle::close);
		for (int i = 0; i < REQUESTS; i++) {
			assertThat(Patience.get(served.get(i), "request " + i)).isEqualTo(i);
			if (i % 100 == 0) {
				count(before);
			}
		}
		assertThat(tooMany).as("more inside than there are keys").hasValue(0);
		assertThat(this.mostThreads).as("threads of the engine").hasValueLessThanOrEqualTo(MOST_THREADS);
		await("nothing is left in the store").until(() -> this.redis.admin().keys("lock*").isEmpty());
	}

	private void count(Set<Thread> others) {
		int threads = (int) engineThreads().filter((thread) -> !others.contains(thread)).count();
		this.mostThreads.accumulateAndGet(threads, Math::max);
	}

	private static Stream<Thread> engineThreads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().matches("distributed-lock-(?!callback-)[a-z]+-\\d+"));
	}

}
