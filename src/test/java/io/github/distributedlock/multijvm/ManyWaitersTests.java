package io.github.distributedlock.multijvm;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Threads of one JVM may wait in any number: connections to Redis do not become more, and
 * each is served. On virtual threads, too, from the JDK on whose monitors do not pin
 * them.
 */
@Tag("thorough")
class ManyWaitersTests {

	private static final int KEYS = 1_000;

	private static final int THREADS = 2_000;

	/**
	 * The number of connections of Jedis, and a few for the subscription and for this
	 * test.
	 */
	private static final int MOST_CONNECTIONS = 64 + 4;

	private static final int JDK_WITHOUT_PINNING = 24;

	private static final Duration PATIENCE = Patience.PATIENCE;

	static Stream<Arguments> cases() {
		List<String> kinds = (Runtime.version().feature() < JDK_WITHOUT_PINNING) ? List.of("platform")
				: List.of("platform", "virtual");
		return Stream.of(Client.values()).flatMap((client) -> kinds.stream().map((kind) -> Arguments.of(client, kind)));
	}

	@ParameterizedTest(name = "{0}, {1} threads")
	@MethodSource("cases")
	void eachForItsOwnKey(Client client, String kind) throws Exception {
		try (Waiters waiters = new Waiters(client, kind)) {
			assertThat(waiters.waitFor(KEYS, (number) -> "k-" + number)).as("connections of %d waiters", KEYS)
				.isLessThanOrEqualTo(MOST_CONNECTIONS);
		}
	}

	@ParameterizedTest(name = "{0}, {1} threads")
	@MethodSource("cases")
	void allForOneKey(Client client, String kind) throws Exception {
		try (Waiters waiters = new Waiters(client, kind)) {
			assertThat(waiters.waitFor(THREADS, (number) -> "k")).as("connections of %d waiters", THREADS)
				.isLessThanOrEqualTo(MOST_CONNECTIONS);
		}
	}

	/**
	 * Two engines: one holds what the threads of the other wait for.
	 */
	private static final class Waiters implements AutoCloseable {

		private final RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED);

		private final Jedis admin = this.server.admin();

		private final RedisLockBackend backend;

		private final LockEngine engine;

		private final LockEngine other;

		private final ExecutorService threads;

		Waiters(Client client, String kind) throws ReflectiveOperationException {
			this.backend = client.backend(this.server.port());
			this.engine = LockEngine.builder(this.backend).build();
			this.other = LockEngine.builder(this.backend).build();
			// By reflection, since the sources compile on JDK 17.
			this.threads = kind.equals("platform") ? Executors.newCachedThreadPool()
					: (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
		}

		/**
		 * Lets threads wait until all do, and then frees all keys.
		 * @return how many connections there were while they waited
		 */
		int waitFor(int count, IntFunction<String> keys) throws Exception {
			List<LockHandle> held = IntStream.range(0, count)
				.mapToObj(keys)
				.distinct()
				.map(this.other::acquire)
				.toList();
			AtomicInteger begun = new AtomicInteger();
			int[] served = new int[1];
			List<Future<?>> waiting = new ArrayList<>();
			for (int i = 0; i < count; i++) {
				LockRequest request = LockRequest.of(keys.apply(i)).waitTime(PATIENCE);
				waiting.add(this.threads.submit(() -> {
					begun.incrementAndGet();
					this.engine.run(request, () -> {
						synchronized (served) {
							served[0]++;
						}
					});
				}));
			}
			await().atMost(PATIENCE)
				.until(() -> begun.get() == count && this.admin.keys("lock-waiters:*").size() == held.size());
			int connections = this.admin.clientList().split("\n").length;
			assertThat(waiting).noneMatch(Future::isDone);
			held.forEach(LockHandle::close);
			for (Future<?> one : waiting) {
				one.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
			}
			assertThat(served[0]).isEqualTo(count);
			return connections;
		}

		@Override
		public void close() {
			this.threads.shutdownNow();
			this.engine.close();
			this.other.close();
			this.backend.close();
			this.admin.close();
			this.server.close();
		}

	}

}
