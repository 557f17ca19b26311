package io.github.distributedlock.backend.redis;

import java.time.Duration;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.Jedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * How a lock with permits stands in Redis.
 */
class PermitsInRedisTests {

	@RegisterExtension
	static final TestRedis REDIS = new TestRedis();

	private static final String LOCK = "lock:{k}";

	private static final Duration LEASE = Duration.ofMinutes(10);

	private final RedisLockBackend backend = REDIS.backend(Client.LETTUCE);

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
		return Claim.of("k", owner, Claim.instanceOf(owner), LEASE).permits(2);
	}

	private static Jedis admin() {
		return REDIS.admin();
	}

}
