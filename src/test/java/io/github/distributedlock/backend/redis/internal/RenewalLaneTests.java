package io.github.distributedlock.backend.redis.internal;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.backend.redis.Atomicity;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.backend.redis.RedisLockSettings;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.RedisServers.Server;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link Lanes}.
 */
class RenewalLaneTests {

	@ParameterizedTest
	@CsvSource({ "JEDIS, LUA", "JEDIS, TRANSACTION", "LETTUCE, LUA", "LETTUCE, TRANSACTION" })
	void aLockIsRenewedThoughTheServerHasNoOtherConnectionToGive(Client client, Atomicity way) {
		Claim claim = Claim.of("k", "a:1", "a", Duration.ofSeconds(30));
		try (Server server = RedisServers.start(RedisServers.EMBEDDED);
				Jedis admin = server.admin();
				RedisLockBackend backend = client.backend(new RedisStandaloneConfiguration("localhost", server.port()),
						RedisLockSettings.defaults().commandTimeout(Duration.ofSeconds(20)).atomicity(way))) {
			assertThat(backend.acquire(claim).acquired()).isTrue();
			// A step that has a connection of its own, if there are several kinds.
			backend.withdraw("k", Waiter.exclusive("nobody"), Set.of());
			admin.configSet("maxclients", "1");
			assertThat(backend.renew(List.of(Renewal.of(claim)))).containsExactly(true);
			assertThat(backend.release(claim.key(), claim.owner())).isTrue();
		}
	}

	@Test
	void aRenewalDoesNotWaitForAConnectionOfItsOwn() {
		CountDownLatch opened = new CountDownLatch(1);
		AtomicInteger openings = new AtomicInteger();
		Named own = new Named("own", () -> {
			openings.incrementAndGet();
			Patience.await(opened, "the test goes on");
		});
		Lane lane = new Lanes(new Named("others", () -> {
		}), own).renewals();
		for (int i = 0; i < 3; i++) {
			assertThat(lane.run(Named.ASK)).isEqualTo("others");
		}
		opened.countDown();
		await("a connection of its own").atMost(Patience.PATIENCE).until(() -> "own".equals(lane.run(Named.ASK)));
		assertThat(openings.get()).as("by one thread at a time, and then by renewals").isLessThanOrEqualTo(2);
	}

	@Test
	void aConnectionThatCannotBeOpenedIsTriedAgain() {
		AtomicInteger openings = new AtomicInteger();
		Named own = new Named("own", () -> {
			if (openings.incrementAndGet() < 3) {
				throw new UnsentException(new IllegalStateException("thrown by the test"));
			}
		});
		Lane lane = new Lanes(new Named("others", () -> {
		}), own).renewals();
		await("a connection of its own").atMost(Patience.PATIENCE).until(() -> "own".equals(lane.run(Named.ASK)));
	}

	/**
	 * A lane without connections, which tells its name.
	 */
	private record Named(String name, Runnable opening) implements Lane {

		private static final Function<Link, String> ASK = (link) -> "asked";

		@Override
		@SuppressWarnings("unchecked")
		public <T> T run(Function<Link, T> step) {
			this.opening.run();
			return (step == ASK) ? (T) this.name : null;
		}

		@Override
		public void close() {
		}

	}

}
