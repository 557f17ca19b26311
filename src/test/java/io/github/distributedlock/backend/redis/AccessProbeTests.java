package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.redis.internal.OwnConnections;
import io.github.distributedlock.backend.redis.internal.RedisClients;
import io.github.distributedlock.backend.redis.internal.RedisFailures;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.RedisCluster;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.RedisServers.Server;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Rights that the user of the connection lacks are found out at the start, and not by the
 * first lock that cannot be waited for or given back.
 */
class AccessProbeTests {

	private static final String USER = "probed";

	private static final String PASSWORD = "secret";

	private static final RedisLockSettings SETTINGS = RedisLockSettings.defaults()
		.commandTimeout(Duration.ofSeconds(20));

	private final Server server = RedisServers.shared(RedisServers.EMBEDDED);

	private Jedis admin;

	@BeforeEach
	void connect() {
		this.admin = this.server.admin();
	}

	@AfterEach
	void disconnect() {
		this.admin.close();
	}

	static Stream<Arguments> ways() {
		return Arrays.stream(Client.values())
			.flatMap((client) -> Stream.of(Atomicity.LUA, Atomicity.TRANSACTION, Atomicity.BEST_EFFORT)
				.map((way) -> Arguments.of(client, way)));
	}

	@ParameterizedTest
	@MethodSource("ways")
	void noWayIsUsedWithoutEachOfItsRights(Client client, Atomicity way) {
		OwnConnections connections = connections(client);
		allow(this.admin, way.commands());
		assertThat(choose(connections, way)).isEqualTo(way);
		for (String right : way.required().split(" ")) {
			String command = right.substring(1);
			this.admin.aclSetUser(USER, "-" + command);
			LockBackendException refusal = refusal(connections, way, right);
			assertThat(refusal.problem()).as("without %s", right).contains(way.text());
			assertThat(refusal.remedy().orElseThrow()).as("without %s", right).contains(way.commands());
			this.admin.aclSetUser(USER, right);
		}
		assertThat(choose(connections, way)).isEqualTo(way);
		assertThat(this.admin.keys("lock*probe-*")).isEmpty();
		connections.close();
	}

	private static LockBackendException refusal(OwnConnections connections, Atomicity way, String missing) {
		RuntimeException failure = catchThrowableOfType(RuntimeException.class, () -> choose(connections, way));
		assertThat(failure).as("without %s", missing).isNotNull();
		assertThat(RedisFailures.isNothingAllowed((RuntimeException) failure.getCause())).as("without %s", missing)
			.isTrue();
		LockBackendException refusal = RedisFailures.translate("keep", "locks", failure);
		assertThat(refusal.isWithoutEffect()).as("without %s", missing).isTrue();
		return refusal;
	}

	@ParameterizedTest
	@MethodSource("ways")
	void noWayIsUsedWithoutEachKindOfName(Client client, Atomicity way) {
		OwnConnections connections = connections(client);
		List<String> names = (way == Atomicity.LUA)
				? List.of("~lock:*", "~lock-waiters:*", "~lock-alive:*", "~lock-claims:*", "~lock-fence:*")
				: List.of("~lock:*", "~lock-waiters:*", "~lock-fence:*");
		for (String denied : names) {
			allow(this.admin, way.commands());
			this.admin.aclSetUser(USER, "resetkeys");
			names.stream().filter((name) -> !name.equals(denied)).forEach((name) -> this.admin.aclSetUser(USER, name));
			refusal(connections, way, denied);
			this.admin.aclSetUser(USER, denied);
			assertThat(choose(connections, way)).isEqualTo(way);
		}
		connections.close();
	}

	@ParameterizedTest
	@EnumSource
	void aDatabaseTakesSelect(Client client) {
		RedisStandaloneConfiguration database = login();
		database.setDatabase(3);
		allow(this.admin, Atomicity.LUA.commands());
		try (RedisLockBackend backend = client.backend(database, SETTINGS)) {
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(backend::atomicity)
				.withMessageContaining(Atomicity.LUA.commands() + " +select");
		}
		this.admin.aclSetUser(USER, "+select");
		try (RedisLockBackend backend = client.backend(database, SETTINGS)) {
			lock(backend);
		}
	}

	@ParameterizedTest
	@EnumSource
	void replicasThatAcknowledgeTakeWait(Client client) {
		RedisLockSettings acknowledged = SETTINGS.replicasToAck(1, Duration.ofMillis(100));
		allow(this.admin, Atomicity.LUA.commands());
		try (RedisLockBackend backend = client.backend(login(), acknowledged)) {
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(backend::atomicity)
				.withMessageContaining(Atomicity.LUA.commands() + " +wait");
		}
		this.admin.aclSetUser(USER, "+wait");
		try (RedisLockBackend backend = client.backend(login(), acknowledged)) {
			assertThat(backend.atomicity()).isEqualTo(Atomicity.LUA);
		}
	}

	@ParameterizedTest
	@EnumSource
	void aClusterTakesClusterAndAsking(Client client) {
		try (RedisCluster cluster = RedisCluster.start(RedisServers.EMBEDDED, 3)) {
			RedisClusterConfiguration servers = new RedisClusterConfiguration(
					cluster.masters().stream().map(Object::toString).toList());
			servers.setUsername(USER);
			servers.setPassword(PASSWORD);
			allow(cluster, Atomicity.LUA.commands() + " +cluster");
			try (RedisLockBackend backend = client.backend(servers, SETTINGS)) {
				assertThatExceptionOfType(LockBackendException.class).isThrownBy(backend::atomicity)
					.withMessageContaining(Atomicity.LUA.commands() + " +cluster +asking");
			}
			allow(cluster, Atomicity.LUA.commands() + " +cluster +asking");
			try (RedisLockBackend backend = client.backend(servers, SETTINGS)) {
				lock(backend);
			}
		}
	}

	private static void allow(RedisCluster cluster, String rights) {
		for (Server master : cluster.masters()) {
			try (Jedis node = master.admin()) {
				allow(node, rights);
			}
		}
	}

	private static void lock(RedisLockBackend backend) {
		try (LockEngine engine = LockEngine.builder(backend).build();
				LockHandle held = engine.acquire(LockRequest.of("k").fenced(true))) {
			assertThat(backend.atomicity()).isEqualTo(Atomicity.LUA);
			assertThat(held.extend(Duration.ofMinutes(1))).isTrue();
		}
	}

	private OwnConnections connections(Client client) {
		return RedisClients.derive(client.connectTo(login()), SETTINGS.commandTimeout());
	}

	private RedisStandaloneConfiguration login() {
		RedisStandaloneConfiguration login = new RedisStandaloneConfiguration("localhost", this.server.port());
		login.setUsername(USER);
		login.setPassword(PASSWORD);
		return login;
	}

	private static Atomicity choose(OwnConnections connections, Atomicity way) {
		return new AtomicitySelector(connections, SETTINGS.atomicity(way)).get().atomicity();
	}

	private static void allow(Jedis admin, String rights) {
		admin.aclSetUser(USER,
				Stream
					.concat(Stream.of("reset", "on", ">" + PASSWORD, "~lock*", "resetchannels", "&lock-wake:*"),
							Stream.of(rights.split(" ")))
					.toArray(String[]::new));
	}

}
