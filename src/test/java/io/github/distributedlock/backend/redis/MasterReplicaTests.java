package io.github.distributedlock.backend.redis;

import io.github.distributedlock.backend.LockBackend.Renewal;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

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

	@ParameterizedTest
	@EnumSource
	void aMasterThatWasDownIsUsedAgain(Client client) {
		Server master = this.servers.master();
		open(client, new RedisStandaloneConfiguration(master.host(), master.port()));
		Ear ear = new Ear();
		this.backend.listen("a", ear);
		this.backend.acquireOrRegister(claim());
		this.servers.master().kill();
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.backend.acquire(claim()));
		this.servers.master().start();
		awaitLocks();
		await().atMost(PATIENCE).until(() -> ear.resubscriptions() > 0);
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
			.until(() -> this.backend.renew(List.of(Renewal.of(claim))).get(0));
		assertThat(this.backend.release(claim.key(), claim.owner())).isTrue();
	}

	private void open(Client client, RedisConfiguration configuration) {
		this.backend = client.backend(configuration, Variant.settings());
	}

	private static Claim claim() {
		String key = UUID.randomUUID().toString();
		return Claim.of(key, "owner of " + key, "a", PATIENCE);
	}

}
