package io.github.distributedlock.backend.redis;

import io.github.distributedlock.backend.LockBackend.Renewal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * All steps of locks, in each way to keep them atomic, by a user with the documented
 * rights and no others; and each of these rights is needed.
 */
@Tag("thorough")
class AccessRulesTests {

	@RegisterExtension
	static final OwnThreads THREADS = new OwnThreads();

	private static final Duration LEASE = Duration.ofSeconds(6);

	private static final Duration PATIENCE = Patience.PATIENCE;

	private static final Pattern CALLED = Pattern.compile("cmdstat_(\\w+):calls=");

	// Of the servers that do not compare by themselves, one is enough.
	static Stream<Arguments> ways() {
		return RedisServers.names()
			.filter((server) -> server.equals(RedisServers.EMBEDDED) || compares(server))
			.flatMap((server) -> Arrays.stream(Client.values())
				.flatMap((client) -> waysOn(server).map((way) -> Arguments.of(server, client, way))));
	}

	private static Stream<Atomicity> waysOn(String server) {
		return Arrays.stream(Atomicity.values())
			.filter((way) -> way != Atomicity.AUTO)
			.filter((way) -> way != Atomicity.NATIVE || compares(server));
	}

	private static boolean compares(String server) {
		try (Jedis admin = RedisServers.shared(server).admin()) {
			return !comparing(admin).isEmpty();
		}
	}

	private static String comparing(Jedis admin) {
		return Stream.of("delex", "delifeq", "cad")
			.filter((command) -> ((List<?>) admin.sendCommand(redis.clients.jedis.Protocol.Command.COMMAND, "INFO",
					command))
				.get(0) != null)
			.findFirst()
			.map((command) -> command.equals("cad") ? "+cad +cas" : "+" + command)
			.orElse("");
	}

	@ParameterizedTest
	@MethodSource("ways")
	void rulesAreEnoughForEverything(String name, Client client, Atomicity way) throws Exception {
		RedisServers.Server server = RedisServers.shared(name);
		try (Jedis admin = server.admin()) {
			List<String> commands = commands(way, comparing(admin));
			List<String> rules = new ArrayList<>(
					List.of("reset", "on", ">secret", "~lock*", "resetchannels", "&lock-wake:*"));
			rules.addAll(commands);
			admin.aclSetUser("locks", rules.toArray(String[]::new));
			admin.aclLogReset();
			RedisStandaloneConfiguration servers = new RedisStandaloneConfiguration("localhost", server.port());
			servers.setUsername("locks");
			servers.setPassword("secret");
			RedisLockSettings settings = RedisLockSettings.defaults().commandTimeout(Patience.COMMAND).atomicity(way);
			try (RedisLockBackend backend = client.backend(servers, settings);
					RedisLockBackend another = client.backend(servers, settings);
					LockEngine engine = LockEngine.builder(backend).watchdogTimeout(LEASE).build();
					LockEngine other = LockEngine.builder(another).watchdogTimeout(LEASE).build()) {
				assertThat(backend.atomicity()).isEqualTo(way);
				assertThat(another.atomicity()).isEqualTo(way);
				// Commands that are sent only at the start need not be in the rules.
				admin.configResetStat();
				admin.scriptFlush();
				takeAndGiveBack(engine, admin);
				park(engine, other, admin);
				lose(engine, admin);
				wake(engine, other, admin);
				runOutOfMemory(engine, admin);
				if (way == Atomicity.LUA) {
					readInTurn(backend, admin);
				}
			}
			assertThat(admin.aclLog()).as("refused")
				.map((entry) -> entry.getObject())
				// The version for the log, and the name of the client for the server.
				.filteredOn((refused) -> !refused.equals("info") && !refused.startsWith("client"))
				.isEmpty();
			Set<String> used = CALLED.matcher(admin.info("commandstats"))
				.results()
				.map((MatchResult call) -> "+" + call.group(1))
				.collect(Collectors.toCollection(TreeSet::new));
			used.add("+ping"); // Only connections that were idle are sent that.
			assertThat(used).as("needed").containsAll(commands);
		}
	}

	private static List<String> commands(Atomicity way, String comparing) {
		return List.of(way.commands().replace("+delex", comparing).split(" "));
	}

	private static void takeAndGiveBack(LockEngine engine, Jedis admin) {
		long token;
		try (LockHandle first = engine.acquire(LockRequest.of("k").fenced(true))) {
			token = first.fencingToken().orElseThrow();
		}
		try (LockHandle second = engine.acquire(LockRequest.of("k").fenced(true))) {
			assertThat(second.fencingToken().orElseThrow()).isGreaterThan(token);
		}
		try (LockHandle both = engine.acquire(LockRequest.of("k", "l"))) {
			assertThat(admin.exists("lock:{k}", "lock:{l}")).isEqualTo(2);
			assertThat(both.extend(LEASE.multipliedBy(20))).isTrue();
			assertThat(admin.pttl("lock:{l}")).isGreaterThan(LEASE.multipliedBy(10).toMillis());
		}
		assertThat(admin.exists("lock:{k}", "lock:{l}")).isZero();
	}

	private static void park(LockEngine engine, LockEngine other, Jedis admin) {
		engine.acquire(LockRequest.of("parked").minHoldTime(Duration.ofMinutes(1))).close();
		assertThat(other.tryAcquire("parked")).isEmpty();
		admin.del("lock:{parked}");
	}

	private static void lose(LockEngine engine, Jedis admin) {
		try (LockHandle held = engine.acquire("lost")) {
			Duration renewed = LEASE.multipliedBy(3).dividedBy(4);
			await().until(() -> admin.pttl("lock:{lost}") < renewed.toMillis());
			await().until(() -> admin.pttl("lock:{lost}") > renewed.toMillis());
			admin.del("lock:{lost}");
			await().until(() -> !held.isHeld());
		}
	}

	private static void wake(LockEngine engine, LockEngine other, Jedis admin) throws Exception {
		LockRequest patient = LockRequest.of("k").waitTime(PATIENCE);
		CompletableFuture<LockHandle> waiting;
		try (LockHandle held = engine.acquire("k")) {
			LockRequest impatient = patient.waitTime(Duration.ofMillis(50));
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> other.acquire(impatient));
			await().until(() -> !admin.exists("lock-waiters:{k}"));
			waiting = CompletableFuture.supplyAsync(() -> other.acquire(patient), THREADS);
			await().until(() -> admin.exists("lock-waiters:{k}"));
		}
		// The lock is another thread's: a try statement could not give the lock back.
		Patience.get(waiting, "the lock").close();
		assertThat(admin.exists("lock:{k}", "lock-waiters:{k}", "lock-alive:{k}")).isZero();
	}

	private static void readInTurn(RedisLockBackend backend, Jedis admin) {
		Claim reader = claim("reader", LockMode.SHARED, false);
		Claim ticket = claim("writer", LockMode.EXCLUSIVE, true);
		Claim parked = claim("reader", LockMode.SHARED, false);
		assertThat(backend.acquire(reader).acquired()).isTrue();
		assertThat(backend.acquire(parked).acquired()).isTrue();
		assertThat(backend.acquireOrRegister(ticket).acquired()).isFalse();
		assertThat(backend.renew(List.of(Renewal.of(reader)))).containsExactly(true);
		backend.release("shared", reader.owner());
		backend.leaveToExpire("shared", parked.owner(), Duration.ofMillis(1));
		await().until(() -> backend.acquireOrRegister(ticket).acquired());
		assertThat(backend.pass(ticket.owner(), claim("writer", LockMode.EXCLUSIVE, false), false).owned()).isTrue();
		admin.del("lock:{shared}");
	}

	private static Claim claim(String instance, LockMode mode, boolean fair) {
		return Claim.of("shared", instance + ":" + System.nanoTime(), instance, LEASE.multipliedBy(20))
			.mode(mode)
			.fair(fair);
	}

	private static void runOutOfMemory(LockEngine engine, Jedis admin) {
		LockHandle held = engine.acquire(LockRequest.of("full").minHoldTime(Duration.ofSeconds(20)));
		admin.configSet("maxmemory", "1");
		held.close();
		admin.configSet("maxmemory", "0");
		await().until(() -> String.valueOf(admin.get("lock:{full}")).startsWith("parked:"));
		admin.del("lock:{full}");
	}

	@Test
	void theDocumentsHaveThem() throws IOException {
		String document = Files.readString(Path.of("src/docs/redis.md"));
		assertThat(Arrays.stream(Atomicity.values()).map(Atomicity::commands))
			.allSatisfy((commands) -> assertThat(document).contains(commands));
	}

}
