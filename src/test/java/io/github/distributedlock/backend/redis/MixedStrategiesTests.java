package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Ear;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.test.AtomicityCase;
import io.github.distributedlock.test.Client;
import io.github.distributedlock.test.RedisServers;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * JVMs that keep locks atomic in different ways, as they may while an access list is
 * being changed, pass locks on to each other.
 */
class MixedStrategiesTests {

	static Stream<String> servers() {
		return RedisServers.names();
	}

	@ParameterizedTest
	@MethodSource("servers")
	@Execution(ExecutionMode.CONCURRENT)
	void aReleaseByOneStrategyWakesAWaiterOfAnother(String server) {
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
					String pair = cases.get(from).strategy() + " to " + cases.get(to).strategy();
					passOn(backends.get(from), backends.get(to), "instance-" + to, ears.get(to), pair);
				}
			}
		}
		finally {
			backends.forEach(RedisLockBackend::close);
		}
	}

	private static void passOn(LockBackend from, LockBackend to, String instance, Ear ear, String pair) {
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
		assertThat(from.renew(List.of(holder))).as("by the holder before: %s", pair).containsExactly(false);
		assertThat(to.release(key, waiter.owner())).as(pair).isTrue();
	}

	private static Claim claim(String key, String instance) {
		return new Claim(key, instance + ":" + UUID.randomUUID(), instance, Duration.ofSeconds(30));
	}

}
