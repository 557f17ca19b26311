package io.github.distributedlock.backend.redis;

import io.github.distributedlock.backend.LockBackend.Renewal;
import java.time.Duration;
import java.util.List;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.Relay;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientPauseMode;
import redis.clients.jedis.params.SetParams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for renewals by {@link PlainSteps}, and for leases that are near to their end.
 */
@Tag("thorough")
class PlainRenewalsTests {

	@RegisterExtension
	final TestRedis redis = new TestRedis();

	@ParameterizedTest
	@EnumSource
	void afterARenewalThatWasNotAnsweredNoLongerLeaseIsGranted(Client client) {
		RedisLockBackend backend = backend(client, this.redis.port(), Atomicity.TRANSACTION);
		assertThat(backend.acquire(claim(20)).acquired()).isTrue();
		this.redis.admin().clientPause(60_000, ClientPauseMode.WRITE);
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> backend.renew(List.of(Renewal.of(claim(30)))))
			.satisfies((ex) -> assertThat(ex.isWithoutEffect()).isFalse());
		this.redis.admin().clientUnpause();
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> backend.renew(List.of(Renewal.of(claim(31)))))
			.withMessageContainingAll("Lock 'k' cannot be renewed for 31 s", "for 30 s",
					"extend the lease by no more than 30 s")
			.satisfies((ex) -> assertThat(ex.isWithoutEffect()).isTrue());
		assertThat(backend.renew(List.of(Renewal.of(claim(30))))).containsExactly(true);
		assertThat(this.redis.admin().pttl("lock:{k}")).isGreaterThan(20_000);
		assertThat(backend.release("k", "i:1")).isTrue();
	}

	@ParameterizedTest
	@EnumSource
	void aLockTooNearToItsEndForAChangeCountsAsParked(Client client) {
		RedisLockBackend backend = backend(client, this.redis.port(), Atomicity.BEST_EFFORT);
		Claim claim = Claim.of("k", "i:1", "i", Duration.ofMillis(Atomicity.MARGIN_MILLIS));
		await().untilAsserted(() -> {
			assertThat(backend.acquire(claim).acquired()).isTrue();
			assertThat(backend.leaveToExpire("k", "i:1", Duration.ofMillis(1))).isTrue();
		});
		assertThat(backend.leaveToExpire("k", "i:2", Duration.ofMillis(1))).isFalse();
	}

	@ParameterizedTest
	@EnumSource
	void aNodeThatIsNoMasterAnyMoreIsLeft(Client client) {
		try (RedisServers.Server next = RedisServers.start(RedisServers.EMBEDDED);
				Jedis nextAdmin = next.admin();
				Relay address = new Relay(this.redis.port())) {
			RedisLockBackend backend = backend(client, address.port(), Atomicity.TRANSACTION);
			assertThat(backend.acquire(claim(20)).acquired()).isTrue();
			assertThat(backend.renew(List.of(Renewal.of(claim(30))))).containsExactly(true);
			nextAdmin.set("lock:{k}", "i:1", SetParams.setParams().px(20_000));
			address.leadTo(next.port());
			this.redis.admin().replicaof("localhost", next.port());
			await().ignoreException(LockBackendException.class)
				.untilAsserted(() -> assertThat(backend.renew(List.of(Renewal.of(claim(30))))).containsExactly(true));
			assertThat(nextAdmin.pttl("lock:{k}")).isGreaterThan(20_000);
		}
	}

	private static Claim claim(int seconds) {
		return Claim.of("k", "i:1", "i", Duration.ofSeconds(seconds));
	}

	private RedisLockBackend backend(Client client, int port, Atomicity atomicity) {
		return this.redis.backend(client.connectTo(port),
				RedisLockSettings.defaults().atomicity(atomicity).commandTimeout(Duration.ofSeconds(5)));
	}

}
