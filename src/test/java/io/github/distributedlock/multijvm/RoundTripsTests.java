package io.github.distributedlock.multijvm;

import io.github.distributedlock.backend.LockBackend.Renewal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.redis.Atomicity;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.backend.redis.RedisLockSettings;
import io.github.distributedlock.fixtures.AtomicityCase;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.tck.Ear;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Each step takes as many commands as the documents say, in each way to keep steps
 * atomic.
 */
class RoundTripsTests {

	/**
	 * A connection that opens in the background, such as that for renewals, begins with
	 * these; and Jedis says UNWATCH once more after each transaction.
	 */
	private static final Set<String> APART = Set.of("hello", "auth", "client", "select", "ping", "unwatch");

	private static final List<Atomicity> WAYS = List.of(Atomicity.LUA, Atomicity.NATIVE, Atomicity.TRANSACTION,
			Atomicity.BEST_EFFORT);

	static Stream<Arguments> ways() {
		return RedisServers.names()
			.flatMap((server) -> AtomicityCase.onServer(server)
				.stream()
				.map(AtomicityCase::atomicity)
				.distinct()
				.flatMap((way) -> Arrays.stream(Client.values()).map((client) -> Arguments.of(server, client, way))));
	}

	@ParameterizedTest
	@MethodSource("ways")
	void areWhatTheDocumentsSay(String server, Client client, Atomicity way) throws IOException {
		RedisLockSettings settings = RedisLockSettings.defaults().commandTimeout(Duration.ofSeconds(20)).atomicity(way);
		RedisServers.Server redis = RedisServers.shared(server);
		try (RedisLockBackend backend = client.backend(new RedisStandaloneConfiguration("localhost", redis.port()),
				settings); ClientCommands commands = new ClientCommands(redis)) {
			assertThat(backend.atomicity()).isEqualTo(way);
			backend.listen("other", new Ear()); // The first registration subscribes.
			run(backend);
			Map<String, Long> counted = new TreeMap<>();
			Claim mine = claim("mine");
			Claim other = claim("other");
			counted.put("take a lock", count(commands, () -> backend.acquire(mine)));
			counted.put("find it busy and wait for it", count(commands, () -> backend.acquireOrRegister(other)));
			counted.put("renew it", count(commands, () -> backend.renew(List.of(Renewal.of(longer(mine))))));
			Claim next = Claim.of(mine.key(), "mine:2", "mine", mine.lease());
			counted.put("pass it on inside the JVM", count(commands, () -> backend.pass(mine.owner(), next, false)));
			backend.pass(next.owner(), mine, false);
			counted.put("release it while one waits", count(commands, () -> backend.release(mine.key(), mine.owner())));
			// Best effort leaves alone a key that is too near to its end, as the
			// reservation may be.
			await("the waiter has the lock").until(() -> backend.acquireOrRegister(other).acquired());
			counted.put("release it", count(commands, () -> backend.release(other.key(), other.owner())));
			counted.put("take it with a fencing token", count(commands, () -> backend.acquire(fenced(mine))));
			backend.release(mine.key(), mine.owner());
			assertThat(counted).isEqualTo(told(WAYS.indexOf(way)));
		}
	}

	// Connects, and loads the scripts.
	private static void run(RedisLockBackend backend) {
		Claim first = claim("mine");
		Claim second = claim("other");
		backend.acquire(fenced(first));
		backend.acquireOrRegister(second);
		backend.renew(List.of(Renewal.of(longer(first))));
		backend.pass(first.owner(), Claim.of(first.key(), "mine:2", "mine", first.lease()), false);
		backend.pass("mine:2", first, false);
		backend.release(first.key(), first.owner());
		backend.acquireOrRegister(second);
		backend.release(second.key(), second.owner());
	}

	private static long count(ClientCommands commands, Runnable step) {
		Map<String, Long> sent = commands.stepsDuring(step);
		sent.keySet().removeAll(APART);
		return sent.values().stream().mapToLong(Long::longValue).sum();
	}

	private static Map<String, Long> told(int way) throws IOException {
		List<String> lines = Files.readAllLines(Path.of("src/docs/redis.md"));
		int heading = lines.indexOf("| commands to | `lua` | `native` | `transaction` | `best-effort` |");
		Map<String, Long> told = new TreeMap<>();
		lines.stream().skip(heading + 2).takeWhile((line) -> !line.isEmpty()).forEach((line) -> {
			String[] cells = line.split("\\|");
			told.put(cells[1].strip(), Long.valueOf(cells[2 + way].strip()));
		});
		return told;
	}

	private static Claim claim(String instance) {
		return Claim.of("round-trips", instance + ":1", instance, Duration.ofSeconds(20));
	}

	private static Claim longer(Claim claim) {
		return Claim.of(claim.key(), claim.owner(), claim.instance(), claim.lease().multipliedBy(2));
	}

	private static Claim fenced(Claim claim) {
		return Claim.of(claim.key(), claim.owner(), claim.instance(), claim.lease()).fenced(true);
	}

}
