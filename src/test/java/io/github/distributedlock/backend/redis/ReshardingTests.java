package io.github.distributedlock.backend.redis;

import io.github.distributedlock.backend.LockBackend.Renewal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisCluster;
import io.github.distributedlock.fixtures.Variant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Locks of one slot that are held, renewed, waited for and released while the slot moves
 * from one master to another, which may take longer than a lease.
 */
@Tag("failover")
class ReshardingTests {

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	private static final Duration LEASE = Duration.ofSeconds(9);

	private static final Duration PATIENCE = Patience.PATIENCE;

	private static final int LOCKS = 10;

	@RegisterExtension
	static final RedisCluster cluster = RedisCluster.start(Variant.SERVER, 3);

	private final List<LockEvent> losses = new CopyOnWriteArrayList<>();

	private final String tag = "{" + UUID.randomUUID() + "}";

	private final List<String> keys = IntStream.range(0, LOCKS).mapToObj((i) -> i + this.tag).toList();

	private final List<RedisLockBackend> backends = new ArrayList<>();

	private LockEngine here;

	private LockEngine there;

	private SlotMove move;

	@AfterEach
	void close() {
		this.here.close();
		this.there.close();
		this.backends.forEach(RedisLockBackend::close);
		this.move.close();
	}

	@ParameterizedTest
	@EnumSource
	void whatIsHeldStaysHeldHoweverLongItTakes(Client client) {
		open(client);
		List<LockHandle> handles = this.keys.stream().map(this.here::acquire).toList();
		this.move.begin();
		this.move.carry(name(this.keys.get(0)), name(this.keys.get(1)));
		Map<String, Long> left = new HashMap<>();
		Set<String> renewed = new HashSet<>();
		while (renewed.size() < LOCKS) {
			assertThat(handles).allMatch(LockHandle::isHeld);
			for (String key : this.keys) {
				long now = this.move.millisLeft(name(key));
				assertThat(now).isPositive();
				Long before = left.put(key, now);
				if (before != null && now > before) {
					renewed.add(key);
				}
			}
			assertThat(this.there.tryAcquire(this.keys.get(0))).as("a lock that has moved").isEmpty();
			assertThat(this.there.tryAcquire(this.keys.get(2))).as("a lock that has not moved").isEmpty();
		}
		this.move.end();
		handles.forEach(LockHandle::close);
		this.keys.forEach((key) -> this.there.acquire(key).close());
		assertThat(this.losses).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void whatIsFreeCanBeAcquiredAndGivenBack(Client client) {
		open(client);
		LockHandle held = this.here.acquire(this.keys.get(0));
		this.move.begin();
		LockHandle handle = this.there.acquire(this.keys.get(1));
		assertThat(this.here.tryAcquire(this.keys.get(1))).isEmpty();
		handle.close();
		this.here.acquire(LockRequest.of(this.keys.get(1)).fenced(true)).close();
		this.move.end();
		held.close();
		assertThat(this.losses).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void whoWaitsGetsItsTurn(Client client) throws Exception {
		open(client);
		List<LockHandle> handles = this.keys.stream().map(this.here::acquire).toList();
		List<CompletableFuture<Void>> waiters = this.keys.stream()
			.map((key) -> LockRequest.of(key).waitTime(PATIENCE))
			.map((request) -> CompletableFuture.runAsync(() -> this.there.acquire(request).close(), this.threads))
			.toList();
		await().until(() -> this.keys.stream().allMatch((key) -> this.move.exists(waiters(key))));
		this.move.begin();
		this.move.carry(name(this.keys.get(0)), name(this.keys.get(1)), waiters(this.keys.get(2)));
		handles.forEach(LockHandle::close);
		for (CompletableFuture<Void> waiter : waiters) {
			waiter.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
		}
		this.move.end();
		assertThat(this.losses).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void readersStayAndGo(Client client) {
		assumeTrue(Variant.isByScripts());
		open(client);
		RedisLockBackend backend = this.backends.get(0);
		Claim staying = reader("a");
		Claim going = reader("b");
		assertThat(backend.acquire(staying).acquired()).isTrue();
		assertThat(backend.acquire(going).acquired()).isTrue();
		this.move.begin();
		this.move.carry(name(staying.key()));
		assertThat(backend.renew(List.of(Renewal.of(staying), Renewal.of(going)))).containsExactly(true, true);
		assertThat(backend.release(going.key(), going.owner())).as("owned").isTrue();
		assertThat(backend.renew(List.of(Renewal.of(staying), Renewal.of(going)))).containsExactly(true, false);
		assertThatExceptionOfType(LockBackendException.class).as("until it has moved")
			.isThrownBy(() -> backend.acquire(reader("c")))
			.satisfies((ex) -> assertThat(ex.isRetryable()).as("retryable").isTrue());
		this.move.end();
		await().until(() -> backend.acquire(reader("c")).acquired());
		assertThat(backend.release(staying.key(), staying.owner())).as("owned").isTrue();
	}

	private Claim reader(String instance) {
		return Claim.of(this.keys.get(0), instance + ":" + UUID.randomUUID(), instance, PATIENCE).mode(LockMode.SHARED);
	}

	private void open(Client client) {
		this.here = engine(client);
		this.there = engine(client);
		this.move = new SlotMove(cluster, name(this.tag));
		// Opens the connections.
		Stream.of(this.here, this.there).forEach((engine) -> engine.acquire(UUID.randomUUID().toString()).close());
	}

	private LockEngine engine(Client client) {
		RedisLockBackend backend = new RedisLockBackend(client.connectTo(cluster), Variant.settings());
		this.backends.add(backend);
		return LockEngine.builder(backend).watchdogTimeout(LEASE).listener((event) -> {
			if (event instanceof LockEvent.Lost) {
				this.losses.add(event);
			}
		}).build();
	}

	private static String name(String key) {
		return "lock::" + key;
	}

	private static String waiters(String key) {
		return "lock-waiters::" + key;
	}

}
