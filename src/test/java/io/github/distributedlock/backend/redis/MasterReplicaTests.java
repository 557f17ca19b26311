package io.github.distributedlock.backend.redis;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisReplicas;
import io.github.distributedlock.fixtures.RedisServers.Server;
import io.github.distributedlock.fixtures.Relay;
import io.github.distributedlock.fixtures.Variant;
import io.github.distributedlock.tck.Ear;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What becomes of locks when the master of some replicas goes away, or is none any more.
 */
class MasterReplicaTests {

	private static final Duration PATIENCE = Patience.PATIENCE;

	private RedisReplicas servers;

	private RedisLockBackend backend;

	@BeforeEach
	void startServers() {
		this.servers = RedisReplicas.start(Variant.SERVER, 1);
	}

	@AfterEach
	void stopServers() {
		this.backend.close();
		this.servers.close();
	}

	@Test
	void aMasterThatWasDownIsUsedAgain() {
		open(Client.LETTUCE, all());
		Ear ear = new Ear();
		this.backend.listen("a", ear);
		this.backend.acquireOrRegister(claim());
		this.servers.master().kill();
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.backend.acquire(claim()));
		this.servers.master().start();
		awaitLocks();
		await().atMost(PATIENCE).until(() -> ear.resubscriptions() > 0);
	}

	@Test
	void noneOfTheServersIsAMaster() {
		swapRoles();
		Server replica = this.servers.master();
		open(Client.LETTUCE, new RedisStaticMasterReplicaConfiguration(replica.host(), replica.port()));
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.backend.acquire(claim()))
			.withMessageContaining("None of [redis://%s", replica)
			.withMessageContaining("is a master")
			.satisfies((ex) -> assertThat(ex.isNotCarriedOut()).isTrue());
	}

	@Test
	void locksAreAtTheMasterWhicheverOfTheServersThatIs() {
		open(Client.LETTUCE, all());
		awaitLocks();
		swapRoles();
		awaitLocks();
	}

	@Test
	void theMasterOfAReplicaThatTheApplicationReadsFromIsFound() {
		Server replica = this.servers.replicas().get(0);
		RedisConnectionFactory application = Client.LETTUCE.connectTo(
				new RedisStandaloneConfiguration(replica.host(), replica.port()), "reads-from-replicas",
				Optional.empty());
		this.backend = new RedisLockBackend(application, Variant.settings());
		awaitLocks();
		swapRoles();
		awaitLocks();
	}

	@Test
	void aServerThatDoesNotTellItsRoleIsUsedAsItIs() {
		Server master = this.servers.master();
		try (Jedis admin = master.admin()) {
			admin.aclSetUser("default", "-role");
		}
		RedisConnectionFactory application = Client.LETTUCE.connectTo(
				new RedisStandaloneConfiguration(master.host(), master.port()), "reads-from-replicas",
				Optional.empty());
		this.backend = new RedisLockBackend(application, Variant.settings());
		awaitLocks();
	}

	@Test
	void aMasterThatLetsNobodyInIsNotReplacedByItsReplica() {
		Server replica = this.servers.replicas().get(0);
		try (Jedis admin = this.servers.master().admin()) {
			admin.configSet("requirepass", "of the master alone");
		}
		RedisConnectionFactory application = Client.LETTUCE.connectTo(
				new RedisStandaloneConfiguration(replica.host(), replica.port()), "reads-from-replicas",
				Optional.empty());
		this.backend = new RedisLockBackend(application, Variant.settings());
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.backend.acquire(claim()))
			.withMessageContaining("NOAUTH")
			.withMessageContaining("spring.data.redis.password");
	}

	@ParameterizedTest
	@EnumSource
	void locksAreAtTheMasterWhereverItsNameLeads(Client client) throws IOException {
		try (Relay name = new Relay(this.servers.master().port())) {
			open(client, new RedisStandaloneConfiguration("localhost", name.port()));
			awaitLocks();
			name.leadTo(this.servers.replicas().get(0).port());
			swapRoles();
			awaitLocks();
		}
	}

	private void swapRoles() {
		Server next = this.servers.replicas().get(0);
		try (Jedis replica = next.admin(); Jedis master = this.servers.master().admin()) {
			replica.replicaofNoOne();
			master.replicaof(next.host(), next.port());
		}
	}

	// On both lanes.
	private void awaitLocks() {
		Claim claim = claim();
		await().atMost(PATIENCE)
			.ignoreExceptionsInstanceOf(LockBackendException.class)
			.until(() -> this.backend.acquireOrRegister(claim).acquired());
		await().atMost(PATIENCE)
			.ignoreExceptionsInstanceOf(LockBackendException.class)
			.until(() -> this.backend.renew(List.of(claim)).get(0));
		assertThat(this.backend.release(claim.key(), claim.owner())).isTrue();
	}

	private void open(Client client, RedisConfiguration configuration) {
		this.backend = client.backend(configuration, Variant.settings());
	}

	private RedisStaticMasterReplicaConfiguration all() {
		Server first = this.servers.replicas().get(0);
		RedisStaticMasterReplicaConfiguration all = new RedisStaticMasterReplicaConfiguration(first.host(),
				first.port());
		all.addNode(this.servers.master().host(), this.servers.master().port());
		return all;
	}

	private static Claim claim() {
		String key = UUID.randomUUID().toString();
		return Claim.of(key, "owner of " + key, "a", PATIENCE);
	}

}
