package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.Relay;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisDataException;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link AtomicitySelector} with servers that change their mind.
 */
@Tag("thorough")
@ExtendWith(OutputCaptureExtension.class)
class AtomicitySelectionTests {

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	private static final Duration LEASE = Duration.ofSeconds(9);

	/** The lease of a lock that nobody renews. */
	private static final Duration LONG = Duration.ofMinutes(10);

	static Stream<Arguments> everywhere() {
		return RedisServers.names()
			.flatMap((server) -> Stream.of(Client.values()).map((client) -> Arguments.of(server, client)));
	}

	@ParameterizedTest
	@MethodSource("everywhere")
	void locksAreHeldWaitedForAndRenewedThroughoutAChangeOfTheRules(String name, Client client, CapturedOutput output)
			throws Exception {
		try (RedisServers.Server server = RedisServers.start(name);
				Jedis admin = server.admin();
				RedisLockBackend backend = backend(client, server.port());
				LockEngine engine = LockEngine.builder(backend).watchdogTimeout(LEASE).build();
				LockEngine other = LockEngine.builder(backend).watchdogTimeout(LEASE).build()) {
			LockHandle held = engine.acquire("k");
			CompletableFuture<LockHandle> waiting = CompletableFuture
				.supplyAsync(() -> other.acquire(LockRequest.of("k").waitTime(Patience.PATIENCE)), this.threads);
			await().until(() -> admin.exists("lock-waiters:{k}"));
			assertThat(backend.atomicity()).isEqualTo(Atomicity.LUA);

			admin.aclSetUser("default", "-eval", "-evalsha");
			// A waiter polls meanwhile, and is refused first.
			await().until(() -> backend.atomicity() != Atomicity.LUA);
			awaitRenewal(admin);
			Atomicity plain = backend.atomicity();

			admin.aclSetUser("default", "+eval", "+evalsha");
			awaitRenewal(admin);
			assertThat(held.isHeld()).isTrue();
			held.close();
			LockHandle next = waiting.get(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS);
			assertThat(next.isHeld()).isTrue();
			next.close();
			// Steps without scripts do not know of them, and they run out by themselves.
			assertThat(admin.keys("*")).isSubsetOf("lock-alive:{k}", "lock-claims:{k}");
			assertThat(backend.atomicity()).as("no reason to change back").isEqualTo(plain);

			admin.aclSetUser("default", "-multi", "-watch");
			engine.acquire("k").close();
			assertThat(backend.atomicity()).isEqualTo((plain == Atomicity.NATIVE) ? plain : Atomicity.LUA);
		}
		assertThat(output).containsOnlyOnce("Locks are kept atomic by lua on ")
			.containsOnlyOnce(" now, and no longer by lua, on ");
	}

	// Counts a second that has begun.
	private static long seconds(long begin) {
		return 1 + Duration.ofNanos(System.nanoTime() - begin).toSeconds();
	}

	private static void awaitRenewal(Jedis admin) {
		long most = LEASE.toMillis() * 3 / 4;
		await().until(() -> admin.pttl("lock:{k}") < most);
		await().until(() -> admin.pttl("lock:{k}") > most);
	}

	@ParameterizedTest
	@MethodSource("everywhere")
	void anotherServerThatTakesOverIsAskedAnew(String name, Client client) throws Exception {
		try (RedisServers.Server old = RedisServers.start(name, "user default on nopass ~* &* +@all -eval -evalsha");
				RedisServers.Server young = RedisServers.start(RedisServers.EMBEDDED,
						"user default on nopass ~* &* +@all -multi -watch");
				Relay address = new Relay(old.port());
				RedisLockBackend backend = backend(client, address.port());
				LockEngine engine = LockEngine.builder(backend).build()) {
			engine.acquire("k").close();
			assertThat(backend.atomicity()).isIn(Atomicity.NATIVE, Atomicity.TRANSACTION);
			address.leadTo(young.port());
			address.silence();
			address.cut();
			LockRequest patient = LockRequest.of("k").waitTime(Patience.PATIENCE);
			engine.acquire(patient).close();
			await().until(() -> backend.atomicity() == Atomicity.LUA);
			engine.acquire(patient).close();
		}
	}

	@ParameterizedTest
	@EnumSource
	void aRefusalThatNoStrategyAvoidsIsReportedAndNotProbedEachTime(Client client) {
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED);
				Jedis admin = server.admin();
				RedisLockBackend backend = backend(client, server.port())) {
			backend.atomicity();
			Claim claim = Claim.of("k", "i:1", "i", LONG);
			assertThat(backend.acquire(claim).acquired()).isTrue();
			admin.aclSetUser("default", "resetkeys", "~lock*:{probe*", "~lock-waiters:*");
			long before = connections(admin);
			long begin = System.nanoTime();
			for (int i = 0; i < 50; i++) {
				assertThatExceptionOfType(LockBackendException.class)
					.isThrownBy(() -> backend.release("k", claim.owner()))
					.withMessageContainingAll("release lock 'k'", "NOPERM this user has no permissions to access",
							"ACL SETUSER");
			}
			assertThat(connections(admin) - before).as("connections to ask on, once a second")
				.isLessThan(15 * seconds(begin));
			admin.aclSetUser("default", "allkeys");
			assertThat(backend.release("k", claim.owner())).isTrue();
		}
	}

	@ParameterizedTest
	@EnumSource
	void nothingIsChangedIfTheTransactionIsRefused(Client client) {
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED,
				"user default on nopass ~* &* +@all -eval -evalsha");
				Jedis admin = server.admin();
				RedisLockBackend backend = backend(client, server.port())) {
			Claim claim = Claim.of("k", "i:1", "i", Duration.ofMinutes(1));
			assertThat(backend.acquire(claim).acquired()).isTrue();
			assertThat(backend.atomicity()).isEqualTo(Atomicity.TRANSACTION);
			assertThat(backend.largestRelease()).as("each key takes commands of its own").isEqualTo(1);
			admin.aclSetUser("default", "-multi");
			for (int i = 0; i < 2; i++) {
				assertThatExceptionOfType(LockBackendException.class)
					.isThrownBy(() -> backend.release("k", claim.owner()))
					.withMessageContainingAll("release lock 'k'", "NOPERM", "'multi'");
				assertThat(admin.get("lock:{k}")).isEqualTo(claim.owner());
			}
			admin.aclSetUser("default", "+multi");
			assertThat(backend.release("k", claim.owner())).isTrue();
		}
	}

	@ParameterizedTest
	@EnumSource
	void aServerThatForbidsEverythingIsNotAskedEachTimeEither(Client client) {
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED,
				"user default on nopass ~* &* +@all -eval -evalsha -multi -watch");
				Jedis admin = server.admin();
				RedisLockBackend backend = backend(client, server.port())) {
			Claim claim = Claim.of("k", "i:1", "i", LONG);
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(backend::atomicity);
			long before = connections(admin);
			long begin = System.nanoTime();
			for (int i = 0; i < 50; i++) {
				assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> backend.acquire(claim))
					.withMessageContainingAll("acquire lock 'k'", "lua: NOPERM", "transaction: NOPERM")
					.satisfies((ex) -> assertThat(ex.isWithoutEffect()).isTrue())
					.satisfies((ex) -> assertThat(ex.isRetryable()).isFalse());
			}
			assertThat(connections(admin) - before).as("connections to ask on, once a second")
				.isLessThan(50 * seconds(begin));
			assertThat(admin.dbSize()).isZero();
			admin.aclSetUser("default", "+eval", "+evalsha");
			await().ignoreException(LockBackendException.class).until(() -> backend.acquire(claim).acquired());
		}
	}

	@ParameterizedTest
	@EnumSource
	void whatWasTakenBeforeARefusalCountsAsTaken(Client client) {
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED,
				"user default on nopass ~* &* +@all -eval -evalsha");
				Jedis admin = server.admin();
				RedisLockBackend backend = backend(client, server.port())) {
			Claim claim = Claim.of("k", "i:1", "i", LONG).fenced(true);
			assertThat(backend.acquire(claim).acquired()).isTrue();
			assertThat(backend.release("k", claim.owner())).isTrue();
			admin.aclSetUser("default", "-multi", "-watch");
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> backend.acquire(claim))
				.satisfies((ex) -> assertThat(ex.isWithoutEffect()).isFalse())
				.withMessageContainingAll("finish to acquire lock 'k'", "lua: NOPERM", "transaction: NOPERM");
			assertThat(admin.get("lock:{k}")).isEqualTo(claim.owner());
		}
	}

	@ParameterizedTest
	@EnumSource
	void aProxyThatEndsTheConnectionDoesNotSupportTheCommand(Client client) throws Exception {
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED);
				Relay proxy = new Relay(server.port())) {
			proxy.forbid("EVAL", "EVALSHA");
			try (RedisLockBackend backend = backend(client, proxy.port());
					LockEngine engine = LockEngine.builder(backend).build()) {
				assertThat(backend.atomicity()).isEqualTo(Atomicity.TRANSACTION);
				engine.acquire("k").close();
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void aServerThatIsBusyIsAskedLater(Client client) {
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED, "lua-time-limit 10");
				Jedis admin = server.admin();
				Jedis blocked = server.admin();
				RedisLockBackend backend = backend(client, server.port())) {
			CompletableFuture<?> script = CompletableFuture
				.runAsync(() -> blocked.eval("while true do end", List.of(), List.of()), this.threads);
			// A backend that was asked before would have chosen, and would not ask again.
			await("the script blocks the server").until(() -> isBusy(admin));
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(backend::atomicity)
				.withMessageContaining("BUSY")
				.satisfies((ex) -> assertThat(ex.isRetryable()).isTrue());
			admin.scriptKill();
			assertThat(script).failsWithin(Patience.PATIENCE);
			assertThat(backend.atomicity()).isEqualTo(Atomicity.LUA);
		}
	}

	private static boolean isBusy(Jedis admin) {
		try {
			admin.get("any");
			return false;
		}
		catch (JedisDataException ex) {
			return ex.getMessage().startsWith("BUSY");
		}
	}

	private static long connections(Jedis admin) {
		return admin.info("stats")
			.lines()
			.filter((line) -> line.startsWith("total_connections_received:"))
			.mapToLong((line) -> Long.parseLong(line.substring(line.indexOf(':') + 1).strip()))
			.sum();
	}

	// A machine that is busy must not look like a server that does not answer.
	private static RedisLockBackend backend(Client client, int port) {
		return new RedisLockBackend(client.connectTo(port),
				RedisLockSettings.defaults().commandTimeout(Patience.COMMAND));
	}

}
