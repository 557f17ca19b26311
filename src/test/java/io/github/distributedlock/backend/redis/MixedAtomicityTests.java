package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.fixtures.AtomicityCase;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.tck.Ear;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * JVMs that keep locks atomic in different ways, as they may while an access list is
 * being changed, pass locks on to each other.
 */
class MixedAtomicityTests {

	static Stream<String> servers() {
		return RedisServers.names();
	}

	@ParameterizedTest
	@MethodSource("servers")
	@Execution(ExecutionMode.CONCURRENT)
	void aReleaseByOneCandidateWakesAWaiterOfAnother(String server) {
		List<AtomicityCase> cases = AtomicityCase.onServer(server);
		List<RedisLockBackend> backends = new ArrayList<>();
		List<Ear> ears = new ArrayList<>();
		try {
			for (int i = 0; i < cases.size(); i++) {
				Client client = Client.values()[i % Client.values().length];
				RedisLockBackend backend = cases.get(i).backend(client, "mixed");
				backends.add(backend);
				ears.add(new Ear());
				backend.listen("instance-" + i, ears.get(i));
			}
			for (int from = 0; from < cases.size(); from++) {
				for (int to = 0; to < cases.size(); to++) {
					String pair = cases.get(from).candidate() + " to " + cases.get(to).candidate();
					RedisLockBackend releasing = backends.get(from);
					RedisLockBackend waiting = backends.get(to);
					String instance = "instance-" + to;
					Ear ear = ears.get(to);
					// Again, where this machine was so slow that a reservation has run
					// out.
					await(pair).untilAsserted(() -> passOn(releasing, waiting, instance, ear, pair));
				}
			}
		}
		finally {
			backends.forEach(RedisLockBackend::close);
		}
	}

	private static void passOn(RedisLockBackend from, RedisLockBackend to, String instance, Ear ear, String pair) {
		String key = UUID.randomUUID().toString();
		Claim holder = claim(key, "holder");
		Claim waiter = claim(key, instance);
		assertThat(from.acquire(holder).acquired()).as(pair).isTrue();
		assertThat(to.acquireOrRegister(waiter).acquired()).as("while it is held: %s", pair).isFalse();
		assertThat(to.release(key, waiter.owner())).as("by who does not hold it: %s", pair).isFalse();
		assertThat(from.release(key, holder.owner())).as(pair).isTrue();
		assertThat(from.acquire(claim(key, "stranger")).acquired()).as("while it is reserved: %s", pair).isFalse();
		ear.awaitWake(key);
		// At once, unless this machine was so slow that the reservation has run out.
		await(pair).until(() -> to.acquireOrRegister(waiter).acquired());
		assertThat(from.renew(List.of(Renewal.of(holder)))).as("by the holder before: %s", pair).containsExactly(false);
		assertThat(to.release(key, waiter.owner())).as(pair).isTrue();
	}

	@ParameterizedTest
	@MethodSource("servers")
	@Execution(ExecutionMode.CONCURRENT)
	void plainStepsLeaveLocksOfScriptsAloneAndWakeTheirWaiters(String server) {
		List<AtomicityCase> cases = AtomicityCase.onServer(server);
		List<RedisLockBackend> plain = new ArrayList<>();
		Ear reading = new Ear();
		Ear writing = new Ear();
		try (RedisLockBackend scripts = cases.get(0).backend(Client.JEDIS, "with-readers")) {
			assertThat(scripts.atomicity()).isEqualTo(Atomicity.LUA);
			scripts.listen("reader", reading);
			for (AtomicityCase one : cases.subList(1, cases.size())) {
				RedisLockBackend backend = one.backend(Client.LETTUCE, "with-readers");
				plain.add(backend);
				backend.listen("writer", writing);
				isRefused(backend, one);
				meet(backend, scripts, writing, shared(UUID.randomUUID().toString()), one.candidate());
				meet(backend, scripts, writing, permit(UUID.randomUUID().toString()), one.candidate());
				wake(backend, scripts, reading, shared(UUID.randomUUID().toString()), one.candidate());
				wake(backend, scripts, reading, fair(UUID.randomUUID().toString()), one.candidate());
				wake(backend, scripts, reading, permit(UUID.randomUUID().toString()), one.candidate());
			}
		}
		finally {
			plain.forEach(RedisLockBackend::close);
		}
	}

	private static void isRefused(RedisLockBackend plain, AtomicityCase one) {
		for (Claim claim : List.of(shared("refused"), fair("refused"), permit("refused"))) {
			for (ThrowingCallable step : List.<ThrowingCallable>of(
					() -> plain.checkSupport(
							LockRequest.of("refused").mode(claim.mode()).fair(claim.fair()).permits(claim.permits())),
					() -> plain.acquire(claim), () -> plain.acquireOrRegister(claim),
					() -> plain.pass("nobody", claim, false))) {
				assertThatExceptionOfType(LockBackendException.class).as("%s", one)
					.isThrownBy(step)
					.withMessageContaining("'refused' was requested as " + claim.features().iterator().next().word())
					.withMessageContaining("EVALSHA")
					.withMessageContaining("distributed-lock.redis.atomicity")
					.satisfies((ex) -> assertThat(ex.isRetryable()).isFalse());
			}
		}
	}

	private static void meet(RedisLockBackend plain, RedisLockBackend scripts, Ear writing, Claim reader, String way) {
		String key = reader.key();
		Claim writer = claim(key, "writer");
		assertThat(scripts.acquire(reader).acquired()).isTrue();
		assertThat(plain.acquire(writer).acquired()).as(way).isFalse();
		assertThat(plain.acquireOrRegister(writer).acquired()).as(way).isFalse();
		assertThat(plain.acquireOrRegister(writer).holder()).as(way)
			.isEqualTo(Holder.owner(reader.owner()).in(reader.mode()));
		assertThat(plain.release(key, writer.owner())).as(way).isFalse();
		assertThat(plain.leaveToExpire(key, writer.owner(), Duration.ofSeconds(1))).as(way).isFalse();
		assertThat(plain.renew(List.of(Renewal.of(writer)))).as(way).containsExactly(false);
		assertThat(plain.pass(writer.owner(), claim(key, "writer"), false).owned()).as(way).isFalse();
		plain.withdraw(key, Waiter.exclusive("writer"), Set.of());
		assertThat(scripts.renew(List.of(Renewal.of(reader)))).as(way).containsExactly(true);
		plain.acquireOrRegister(writer);
		scripts.release(key, reader.owner());
		writing.awaitWake(key);
		await(way).until(() -> plain.acquireOrRegister(writer).acquired());
	}

	private static void wake(RedisLockBackend plain, RedisLockBackend scripts, Ear ear, Claim waiting, String way) {
		Claim holder = claim(waiting.key(), "writer");
		assertThat(plain.acquire(holder).acquired()).isTrue();
		assertThat(scripts.acquireOrRegister(waiting).acquired()).isFalse();
		assertThat(plain.release(waiting.key(), holder.owner())).as(way).isTrue();
		ear.awaitWake(waiting.key());
		await(way).until(() -> scripts.acquireOrRegister(waiting).acquired());
		assertThat(scripts.release(waiting.key(), waiting.owner())).as(way).isTrue();
		assertThat(plain.acquire(holder).acquired()).as("free: %s", way).isTrue();
	}

	private static Claim shared(String key) {
		Claim claim = claim(key, "reader");
		return Claim.of(key, claim.owner(), claim.instance(), claim.lease()).mode(LockMode.SHARED);
	}

	private static Claim permit(String key) {
		return claim(key, "reader").permits(3);
	}

	private static Claim fair(String key) {
		Claim claim = claim(key, "reader");
		return Claim.of(key, claim.owner(), claim.instance(), claim.lease()).fair(true);
	}

	private static Claim claim(String key, String instance) {
		return Claim.of(key, instance + ":" + UUID.randomUUID(), instance, Duration.ofSeconds(30));
	}

}
