package io.github.distributedlock.faults;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.faults.Recorder.Held;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisDataException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A server that forgets locks, or in which somebody overwrites them.
 */
@Tag("faults")
class LostDataFaultsTests {

	@RegisterExtension
	static final OwnThreads THREADS = new OwnThreads();

	private static final String LOCK = "lock:{" + Workload.LONG + "}";

	/** A key that nobody else asks for. */
	private static final String OWN = "own";

	private static final LockRequest NOT_WAITING = LockRequest.of(OWN).waitTime(Duration.ZERO);

	private static final List<String> LOCKS = List.of(LOCK, "lock:{" + OWN + "}");

	private static final String FOREIGN = "somebody else";

	private static final Promise OVERWRITTEN = Promise.WHOLE
		.withRemark("the lock is taken by the overwriting program: noticed at the next renewal");

	@ParameterizedTest
	@EnumSource
	void itIsFlushed(Client client) throws Exception {
		FaultRow.of("FLUSHALL while held", client).promising(Promise.SERVER_FORGETS).run((trial) -> {
			trial.admin(Jedis::flushAll);
			trial.awaitKeyMissed();
		});
	}

	@Test
	void itEvictsKeysThatExpire() throws Exception {
		FaultRow.of("eviction of the lock's key, volatile-lru", Client.JEDIS)
			.promising(Promise.SERVER_FORGETS)
			.run((trial) -> evict(trial, "volatile-lru"));
	}

	@Test
	void itEvictsAnyKeys() throws Exception {
		FaultRow.of("eviction of the lock's key, allkeys-random", Client.LETTUCE)
			.promising(Promise.SERVER_FORGETS)
			.run((trial) -> evict(trial, "allkeys-random"));
	}

	@ParameterizedTest
	@EnumSource
	void aForeignOwnerTakesTheKey(Client client) throws Exception {
		FaultRow.of("key replaced by a foreign owner", client).promising(OVERWRITTEN).run((trial) -> {
			overwrite(trial, (redis, lock) -> redis.set(lock, FOREIGN));
			assertRefused(trial, LockNotAcquiredException.class, FOREIGN);
			trial.admin((redis) -> LOCKS.forEach((lock) -> assertThat(redis.getDel(lock)).isEqualTo(FOREIGN)));
		});
	}

	@ParameterizedTest
	@EnumSource
	void theKeyIsOfAForeignType(Client client) throws Exception {
		FaultRow.of("key replaced by a foreign type", client).promising(OVERWRITTEN).run((trial) -> {
			overwrite(trial, (redis, lock) -> {
				redis.rpush("other", FOREIGN);
				redis.rename("other", lock);
			});
			assertRefused(trial, LockBackendException.class, "WRONGTYPE");
			trial.admin((redis) -> LOCKS.forEach((lock) -> assertThat(redis.lpop(lock)).isEqualTo(FOREIGN)));
		});
	}

	@EachClient
	void aKeyIsGoneWhileItsRequestWaitsForAnother(Client client) throws Exception {
		loseWhileCollecting("key deleted while its request waits for another", client, false);
	}

	@EachClient
	void aKeyIsTakenWhileItsRequestWaitsForAnother(Client client) throws Exception {
		loseWhileCollecting("key deleted, and taken, while its request waits for another", client, true);
	}

	private static void loseWhileCollecting(String fault, Client client, boolean isTaken) throws Exception {
		LockRequest first = LockRequest.of("first").waitTime(Duration.ZERO);
		LockRequest last = LockRequest.of("last").waitTime(Workload.PATIENCE);
		LockRequest both = LockRequest.of("first", "last").waitTime(Workload.PATIENCE);
		FaultRow.of(fault, client).mixed().promising(Promise.NOTHING_LOST).run((trial) -> {
			Recorder recorder = trial.recorder();
			LockEngine rival = trial.rival().engine();
			Held awaited = recorder.acquire(rival, last).orElseThrow();
			CompletableFuture<Held> collected = CompletableFuture
				.supplyAsync(() -> recorder.acquire(trial.holder().engine(), both).orElseThrow(), THREADS);
			try (Jedis admin = trial.server().admin()) {
				await("the first key").until(() -> admin.exists("lock:{first}"));
				Optional<Held> taken;
				do {
					admin.del("lock:{first}");
					taken = isTaken ? recorder.acquire(rival, first) : Optional.empty();
				}
				while (isTaken && taken.isEmpty());
				// After that time the holder has been told, or the lease is over by the
				// holder's own clock.
				Thread.sleep(Trial.LEASE.toMillis());
				awaited.close();
				taken.ifPresent((other) -> {
					assertThat(collected).as("all keys, while another has the first").isNotDone();
					other.close();
				});
				try (Held held = Patience.get(collected, "all keys")) {
					assertThat(held.handle().isHeld()).as("held").isTrue();
					assertThat(admin.mget("lock:{first}", "lock:{last}")).containsOnly(held.handle().owner());
				}
			}
		});
	}

	/**
	 * Overwrites a lock that is given back then, and one whose holder gets to know it.
	 */
	private static void overwrite(Trial trial, BiConsumer<Jedis, String> write) {
		LockHandle own = trial.holder().engine().acquire(OWN);
		trial.recorder().strikes();
		trial.admin((redis) -> LOCKS.forEach((lock) -> write.accept(redis, lock)));
		own.close();
		trial.awaitKeyMissed();
		trial.awaitNobodyHolds(Workload.LONG);
	}

	/**
	 * A request that may ask once is told why in vain. On a busy machine the command may
	 * get no answer in time.
	 */
	private static void assertRefused(Trial trial, Class<? extends Exception> refusal, String reason) {
		await().pollInSameThread()
			.untilAsserted(() -> assertThatExceptionOfType(refusal)
				.isThrownBy(() -> trial.rival().engine().acquire(NOT_WAITING))
				.withMessageContaining(reason));
	}

	private static void evict(Trial trial, String policy) throws InterruptedException {
		trial.admin((redis) -> {
			String owner = redis.get(LOCK);
			redis.configSet("maxmemory-policy", policy);
			redis.configSet("maxmemory", "1mb");
			for (int i = 0; owner.equals(redis.get(LOCK)); i++) {
				fill(redis, i);
			}
			redis.configSet("maxmemory", "0");
		});
		trial.awaitKeyMissed();
	}

	private static void fill(Jedis redis, int number) {
		try {
			redis.set("filler-" + number, "x".repeat(10_000));
		}
		catch (JedisDataException ex) {
			// Even after the eviction of all that may be evicted, memory is short.
			assertThat(ex).hasMessageStartingWith("OOM");
		}
	}

}
