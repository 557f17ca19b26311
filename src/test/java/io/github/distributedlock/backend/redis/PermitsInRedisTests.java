package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.List;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.fixtures.BackendBeforeGrants;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.TestRedis;
import io.github.distributedlock.tck.Ear;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisDataException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * How a lock with permits stands in Redis, and what JVMs make of it that know no permits.
 */
class PermitsInRedisTests {

	@RegisterExtension
	static final TestRedis REDIS = new TestRedis();

	private static final String LOCK = "lock:{k}";

	private static final Duration LEASE = Duration.ofMinutes(10);

	private final Ear ear = new Ear();

	private RedisLockBackend backend;

	private BackendBeforeGrants before;

	@BeforeEach
	void connect() {
		this.backend = REDIS.backend(Client.LETTUCE);
		this.backend.listen("new", this.ear);
		this.before = REDIS.closing(new BackendBeforeGrants(REDIS.backend(Client.JEDIS), REDIS.server().admin()));
	}

	@Test
	void aVersionWithoutPermitsFailsAndDisturbsNone() {
		Claim holder = permit("new:1");
		Claim parked = permit("new:2");
		assertThat(this.backend.acquireOrRegister(holder).acquired()).isTrue();
		assertThat(this.backend.acquireOrRegister(parked).acquired()).isTrue();
		for (int i = 0; i < 2; i++) {
			assertThatExceptionOfType(JedisDataException.class)
				.isThrownBy(() -> this.before.acquireOrRegister(alone("old:1")))
				.withMessageContaining("WRONGTYPE");
			assertThatExceptionOfType(JedisDataException.class).isThrownBy(() -> this.before.release("k", "old:1"))
				.withMessageContaining("WRONGTYPE");
			assertThat(this.backend.renew(List.of(Renewal.of(holder)))).containsExactly(true);
			this.backend.leaveToExpire("k", parked.owner(), Duration.ofMinutes(1));
		}
		assertThat(admin().zrange(LOCK, 0, -1)).containsExactly("permit:parked:new:2", "permit:new:1");
	}

	@Test
	void anExclusiveLockOfAVersionWithoutPermitsKeepsThemOutUntilItsRelease() {
		Claim holder = alone("old:1");
		assertThat(this.before.acquireOrRegister(holder).acquired()).isTrue();
		Claim waiting = permit("new:1");
		assertThat(this.backend.acquireOrRegister(waiting).acquired()).isFalse();
		this.before.release("k", holder.owner());
		await().until(() -> this.backend.acquireOrRegister(waiting).acquired());
		assertThat(admin().zrange(LOCK, 0, -1)).containsExactly("permit:new:1");
	}

	@Test
	void aForeignSortedSetIsNoLock() {
		admin().zadd(LOCK, 1, "permits");
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.backend.acquireOrRegister(permit("new:1")))
			.withMessageContainingAll("WRONGTYPE", "'k'");
		assertThat(admin().zrange(LOCK, 0, -1)).containsExactly("permits");
	}

	@Test
	void nothingIsLeftOfALockThatIsReleased() {
		Claim holder = permit("new:1");
		this.backend.acquire(holder);
		assertThat(admin().pttl(LOCK)).isGreaterThan(LEASE.toMillis() / 2);
		assertThat(this.backend.release("k", holder.owner())).isTrue();
		assertThat(admin().exists(LOCK)).isFalse();
	}

	private static Claim permit(String owner) {
		return alone(owner).permits(2);
	}

	private static Claim alone(String owner) {
		return Claim.of("k", owner, Claim.instanceOf(owner), LEASE);
	}

	private static Jedis admin() {
		return REDIS.admin();
	}

}
