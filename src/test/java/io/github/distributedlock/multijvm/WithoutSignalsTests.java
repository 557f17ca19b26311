package io.github.distributedlock.multijvm;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.backend.redis.RedisLockSettings;
import io.github.distributedlock.backend.redis.Signals;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two that share locks on a server without publish and subscribe.
 */
class WithoutSignalsTests {

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	private static final int THREADS = 4;

	private static final int CYCLES = 50;

	private static final Duration PATIENCE = Patience.PATIENCE;

	static Stream<Arguments> ways() {
		return Stream.of(Client.values())
			.flatMap((client) -> Stream.of(Arguments.of(client, Signals.NONE, List.of()),
					Arguments.of(client, Signals.AUTO, List.of("-subscribe", "-psubscribe", "-publish"))));
	}

	@ParameterizedTest
	@MethodSource("ways")
	void aLockIsHandedOverAndNobodyElseHasIt(Client client, Signals signals, List<String> rules) throws Exception {
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED); Jedis admin = server.admin()) {
			admin.aclSetUser("default", rules.toArray(String[]::new));
			try (RedisLockBackend backend = backend(client, server, signals);
					LockEngine one = LockEngine.builder(backend).build();
					LockEngine other = LockEngine.builder(backend).build()) {
				LockHandle held = one.acquire("k");
				CompletableFuture<Void> waiter = CompletableFuture.runAsync(() -> acquire(other).close(), this.threads);
				assertThat(other.tryAcquire("k")).isEmpty();
				held.close();
				assertThat(waiter).succeedsWithin(PATIENCE);
				assertThat(contend(one, other)).isEqualTo(2 * THREADS * CYCLES);
			}
		}
	}

	private static RedisLockBackend backend(Client client, RedisServers.Server server, Signals signals) {
		return client.backend(new RedisStandaloneConfiguration(server.host(), server.port()),
				RedisLockSettings.defaults().commandTimeout(Patience.COMMAND).signals(signals));
	}

	/**
	 * Lets the threads of both count, each under the lock.
	 * @return how far they came, without those that were lost
	 */
	private int contend(LockEngine... engines) {
		AtomicInteger count = new AtomicInteger();
		List<CompletableFuture<Void>> counting = new ArrayList<>();
		for (LockEngine engine : engines) {
			for (int i = 0; i < THREADS; i++) {
				counting.add(CompletableFuture.runAsync(() -> {
					for (int cycle = 0; cycle < CYCLES; cycle++) {
						try (LockHandle handle = acquire(engine)) {
							count.set(count.get() + 1);
						}
					}
				}, this.threads));
			}
		}
		counting.forEach((one) -> Patience.get(one, "all have counted"));
		return count.get();
	}

	private static LockHandle acquire(LockEngine engine) {
		return engine.acquire(LockRequest.of("k").waitTime(PATIENCE));
	}

}
