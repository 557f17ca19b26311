package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.NewConnections;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.TestRedis;
import io.github.distributedlock.tck.Ear;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/**
 * Tests for the commands of {@link RedisLockBackend}, and for the keys that stay in
 * Redis.
 */
class RedisLockBackendTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	private static final Pattern CALLS = Pattern.compile("cmdstat_(\\S+):calls=(\\d+)");

	private final AtomicInteger tokens = new AtomicInteger();

	@ParameterizedTest
	@EnumSource
	void anUncontendedCycleIsTwoCommands(Client client) {
		RedisLockBackend backend = redis.backend(client);
		cycle(backend);
		redis.admin().configResetStat();
		for (int i = 0; i < 5; i++) {
			cycle(backend);
		}
		// Beside the two, the statistics count what the script does.
		assertThat(clientCommands()).containsExactlyInAnyOrder("set=5", "evalsha=5", "get=5", "del=5", "zrange=5");
	}

	@ParameterizedTest
	@EnumSource
	void tellsTheWayOfAtomicityOnceItIsKnown(Client client) {
		RedisLockBackend backend = redis.backend(client);
		assertThat(backend.details()).isEqualTo(Map.of("type", "redis"));
		assertThat(backend.largestRelease()).isEqualTo(1);
		cycle(backend);
		assertThat(backend.details()).isEqualTo(Map.of("type", "redis", "atomicity", "lua"));
		assertThat(backend.largestRelease()).isEqualTo(200);
	}

	@ParameterizedTest
	@EnumSource
	void anInterruptedThreadMayBeTheFirstToAskWhatTheStoreCanDo(Client client) {
		LockEngine engine = redis.closing(LockEngine.builder(redis.backend(client)).build());
		Thread.currentThread().interrupt();
		try (LockHandle handle = engine.acquire(LockRequest.of("k").fenced(true).interruptible(false))) {
			assertThat(handle.fencingToken()).isPresent();
		}
		finally {
			assertThat(Thread.interrupted()).as("interrupt flag").isTrue();
		}
	}

	@ParameterizedTest
	@EnumSource
	void aLockIsWhatTheManualSays(Client client) {
		RedisLockBackend backend = redis.backend(client);
		Claim holder = claim("stock:1", "a");
		backend.acquire(holder);
		backend.acquireOrRegister(claim("stock:1", "b"));
		assertThat(redis.admin().keys("*")).containsExactlyInAnyOrder("lock:{stock:1}", "lock-waiters:{stock:1}",
				"lock-alive:{stock:1}");
		assertThat(redis.admin().get("lock:{stock:1}")).isEqualTo(holder.owner());
		assertThat(redis.admin().pttl("lock:{stock:1}")).as("lease").isBetween(20_000L, 30_000L);
		assertThat(List.of("lock-waiters:{stock:1}", "lock-alive:{stock:1}")).as("expire by themselves")
			.allSatisfy((name) -> assertThat(redis.admin().pttl(name)).isBetween(1L, 10_000L));
		List<String> time = redis.admin().time();
		double now = Double.parseDouble(time.get(0)) * 1e6 + Double.parseDouble(time.get(1));
		assertThat(redis.admin().zscore("lock-waiters:{stock:1}", "b")).as("microseconds of the server")
			.isBetween(now - 10e6, now);
	}

	@ParameterizedTest
	@EnumSource
	void scriptsAreSentAgainAfterAFlush(Client client) {
		RedisLockBackend backend = redis.backend(client);
		cycle(backend);
		redis.admin().scriptFlush();
		cycle(backend);
		redis.admin().configResetStat();
		cycle(backend);
		assertThat(clientCommands()).as("the script is kept again").contains("evalsha=1").doesNotContain("eval=1");
	}

	@ParameterizedTest
	@EnumSource
	void aKeyOfAForeignTypeIsAnErrorThatNamesIt(Client client) {
		RedisLockBackend backend = redis.backend(client);
		redis.admin().rpush("lock:{mine}", "something else");
		Claim claim = claim("mine", "a");
		for (Function<RedisLockBackend, Object> step : List.<Function<RedisLockBackend, Object>>of(
				(it) -> it.acquire(claim), (it) -> it.acquireOrRegister(claim),
				(it) -> it.release("mine", claim.owner()),
				(it) -> it.leaveToExpire("mine", claim.owner(), Duration.ofSeconds(1)))) {
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> step.apply(backend))
				.withMessageContaining("'mine'")
				.withMessageContaining("lock:{mine}")
				.withMessageContaining("WRONGTYPE")
				.withMessageContaining("remove or rename it, or choose another key prefix")
				.satisfies((ex) -> assertThat(ex.isRetryable()).as("retryable").isFalse());
		}
		assertThat(redis.admin().lrange("lock:{mine}", 0, -1)).as("left alone").containsExactly("something else");
	}

	@ParameterizedTest
	@EnumSource
	void aKeyOfAForeignTypeHarmsNoOtherRenewal(Client client) {
		RedisLockBackend backend = redis.backend(client);
		Claim good = claim("good", "a");
		backend.acquire(good);
		redis.admin().rpush("lock:{bad}", "something else");
		assertThat(backend.renew(List.of(Renewal.of(claim("bad", "a")), Renewal.of(good)))).containsExactly(false,
				true);
	}

	@ParameterizedTest
	@EnumSource
	void foreignWaitersAreRefusedBeforeAnythingIsWritten(Client client) {
		RedisLockBackend backend = redis.backend(client);
		redis.admin().set("lock-waiters:{k}", "something else");
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> backend.acquireOrRegister(claim("k", "a")))
			.withMessageContaining("WRONGTYPE");
		assertThat(redis.admin().exists("lock:{k}")).as("locked by nobody who knows").isFalse();
	}

	@ParameterizedTest
	@EnumSource
	void aServerThatIsOutOfMemoryStillServesThoseWhoHaveALock(Client client) {
		try (RedisServers.Server full = RedisServers.start(RedisServers.EMBEDDED); Jedis admin = full.admin()) {
			RedisLockBackend backend = patient(client.connectTo(full.port()));
			Claim parked = claim("parked", "a");
			Claim released = claim("released", "a");
			backend.acquire(parked);
			backend.acquire(released);
			admin.configSet("maxmemory-policy", "noeviction");
			admin.configSet("maxmemory", "1");
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> backend.acquire(claim("k", "a")))
				.withMessageContaining("raise maxmemory")
				.satisfies((ex) -> assertThat(ex.isRetryable()).as("retryable").isTrue());
			assertThat(backend.renew(List.of(Renewal.of(parked), Renewal.of(released)))).containsExactly(true, true);
			assertThat(backend.release("released", released.owner())).isTrue();
			assertThat(backend.leaveToExpire("parked", parked.owner(), Duration.ofSeconds(5))).isTrue();
			assertThat(admin.get("lock:{parked}")).isEqualTo("parked:" + parked.owner());
			assertThat(admin.pttl("lock:{parked}")).as("rest").isBetween(1L, 5_000L);
		}
	}

	@ParameterizedTest
	@EnumSource
	void withPublishDeniedTheLockIsReservedAllTheSame(Client client) {
		redis.inTime(() -> {
			RedisLockBackend backend = redis.backend(client);
			Claim holder = claim("k", "a");
			backend.listen("b", new Ear());
			backend.acquire(holder);
			backend.acquireOrRegister(claim("k", "b"));
			assertThat(restricted(client, "-publish").release("k", holder.owner())).isTrue();
			assertThat(redis.admin().get("lock:{k}")).isEqualTo("reserved:b");
			assertThat(backend.acquireOrRegister(claim("k", "b")).acquired()).as("the poll finds it").isTrue();
		});
	}

	/**
	 * A store that outlives many engines keeps none of them.
	 */
	@ParameterizedTest
	@EnumSource
	void forgetsAListenerThatIsClosed(Client client) {
		RedisLockBackend backend = redis.backend(client);
		Ear first = new Ear();
		backend.listen("b", first).close();
		Ear second = new Ear();
		backend.listen("b", second);
		Claim holder = claim("k", "a");
		backend.acquire(holder);
		backend.acquireOrRegister(claim("k", "b"));
		backend.release("k", holder.owner());
		second.awaitWake("k");
		assertThat(first.heard()).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void aDeniedCommandIsAnErrorThatStays(Client client) {
		RedisLockBackend backend = restricted(client, "-set");
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> backend.acquire(claim("k", "a")))
			.withMessageContaining("acquire lock 'k'")
			.withMessageContaining("ACL SETUSER")
			.satisfies((ex) -> assertThat(ex.isRetryable()).as("retryable").isFalse());
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> backend.acquireOrRegister(claim("k", "a")))
			.withMessageContaining("ACL SETUSER")
			.satisfies((ex) -> assertThat(ex.isRetryable()).as("retryable, from a script").isFalse());
	}

	@ParameterizedTest
	@EnumSource
	void theServersCredentialsAndDatabaseAreThoseOfTheApplication(Client client) {
		redis.admin().aclSetUser("app", "on", ">secret", "+@all", "~*", "&*");
		RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration("localhost", redis.port());
		configuration.setUsername("app");
		configuration.setPassword("secret");
		configuration.setDatabase(3);
		RedisLockBackend backend = patient(client.connectTo(configuration));
		backend.acquire(claim("k", "a"));
		backend.renew(List.of(Renewal.of(claim("k", "a"))));
		assertThat(redis.admin().clientList()).contains("user=app");
		redis.admin().select(3);
		assertThat(redis.admin().exists("lock:{k}")).as("in database 3").isTrue();
	}

	@ParameterizedTest
	@EnumSource
	void passwordThatIsChangedIsThatOfTheNextConnection(Client client) {
		redis.admin().aclSetUser("rotated", "on", "resetpass", ">old", "+@all", "~*", "&*");
		RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration("localhost", redis.port());
		configuration.setUsername("rotated");
		configuration.setPassword("old");
		RedisLockBackend backend = patient(client.connectTo(configuration));
		backend.acquire(claim("k", "a"));
		backend.renew(List.of(Renewal.of(claim("k", "a"))));
		redis.admin().aclSetUser("rotated", "resetpass", ">new");
		configuration.setPassword("new");
		redis.admin().sendCommand(Protocol.Command.CLIENT, "KILL", "USER", "rotated");
		await().ignoreExceptionsInstanceOf(LockBackendException.class)
			.until(() -> backend.renew(List.of(Renewal.of(claim("k", "a")))).size() == 1);
		await().ignoreExceptionsInstanceOf(LockBackendException.class)
			.until(() -> backend.acquire(claim("other", "a")).acquired());
	}

	@ParameterizedTest
	@EnumSource
	void aWrongPasswordIsAnErrorThatStays(Client client) {
		RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration("localhost", redis.port());
		configuration.setUsername("nobody");
		configuration.setPassword("wrong");
		RedisLockBackend backend = patient(client.connectTo(configuration));
		// Lettuce sometimes sees the end of the connection before the refusal.
		await().untilAsserted(() -> assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> backend.acquire(claim("k", "a")))
			.withMessageContaining("correct spring.data.redis.username and spring.data.redis.password")
			.satisfies((ex) -> assertThat(ex.isRetryable()).as("retryable").isFalse()));
	}

	@ParameterizedTest
	@EnumSource
	void renewalsHaveAConnectionOfTheirOwn(Client client) {
		RedisLockBackend backend = redis.backend(client);
		NewConnections connections = new NewConnections(redis.admin());
		cycle(backend);
		cycle(backend);
		assertThat(connections.count()).as("after commands").isEqualTo(1);
		backend.renew(List.of(Renewal.of(claim("k", "a"))));
		await("a connection for renewals, which none waits for").until(() -> connections.count() == 2);
		backend.renew(List.of(Renewal.of(claim("k", "a"))));
		cycle(backend);
		assertThat(connections.count()).as("after another renewal").isEqualTo(2);
	}

	@ParameterizedTest
	@EnumSource
	void afterCloseNothingOpensConnectionsAgain(Client client) {
		RedisLockBackend backend = redis.backend(client);
		cycle(backend);
		backend.close();
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> backend.acquire(claim("k", "a")))
			.withMessageContaining("closed")
			.satisfies((ex) -> assertThat(ex.isRetryable()).as("retryable").isFalse());
	}

	@Test
	void aTimeoutThatIsNoneIsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new RedisLockBackend(Client.JEDIS.connectTo(1),
					RedisLockSettings.defaults().commandTimeout(Duration.ZERO)))
			.withMessageContaining("command timeout");
	}

	private RedisLockBackend restricted(Client client, String rule) {
		String user = "u" + UUID.randomUUID();
		redis.admin().aclSetUser(user, "on", "nopass", "+@all", "~*", "&*", rule);
		RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration("localhost", redis.port());
		configuration.setUsername(user);
		configuration.setPassword("any");
		return patient(client.connectTo(configuration));
	}

	// These tests must not depend on how busy the machine is.
	private static RedisLockBackend patient(RedisConnectionFactory factory) {
		return redis.backend(factory, RedisLockSettings.defaults().commandTimeout(Patience.COMMAND));
	}

	private void cycle(RedisLockBackend backend) {
		Claim claim = claim("cycle", "a");
		assertThat(backend.acquire(claim).acquired()).isTrue();
		assertThat(backend.release(claim.key(), claim.owner())).isTrue();
	}

	private Claim claim(String key, String instance) {
		return Claim.of(key, instance + ":" + this.tokens.incrementAndGet(), instance, Duration.ofSeconds(30));
	}

	private List<String> clientCommands() {
		return CALLS.matcher(redis.admin().info("commandstats"))
			.results()
			.map((MatchResult match) -> match.group(1) + "=" + match.group(2))
			.filter((calls) -> !calls.startsWith("info") && !calls.startsWith("config"))
			.toList();
	}

}
