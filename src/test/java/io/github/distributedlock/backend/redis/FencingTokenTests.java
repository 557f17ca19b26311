package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the origin of the fencing tokens of {@link RedisLockBackend}.
 */
class FencingTokenTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	private static final String FENCE = "lock-fence:{k}";

	private final AtomicInteger owners = new AtomicInteger();

	private RedisLockBackend backend;

	@ParameterizedTest
	@EnumSource
	void theFirstOneIsTheServersTimeInMicroseconds(Client client) {
		open(client);
		long before = serverMicros();
		long token = nextToken();
		assertThat(token).isBetween(before, serverMicros());
		assertThat(redis.admin().get(FENCE)).isEqualTo(String.valueOf(token));
		assertThat(redis.admin().pttl(FENCE)).isBetween(Duration.ofHours(23).toMillis(), Duration.ofDays(1).toMillis());
	}

	@ParameterizedTest
	@EnumSource
	void tokenDoesNotGoBackWhenTheServerLosesItsData(Client client) {
		open(client);
		long before = nextToken();
		redis.admin().flushAll();
		assertThat(nextToken()).isGreaterThan(before);
		redis.admin().del(FENCE);
		assertThat(nextToken()).isGreaterThan(before);
	}

	@ParameterizedTest
	@EnumSource
	void tokenDoesNotGoBackWhenTheServersClockDoes(Client client) {
		open(client);
		// A token of a time when the clock was an hour ahead; odd, so that a lost digit
		// is seen.
		long ahead = serverMicros() + Duration.ofHours(1).toNanos() / 1000 | 1;
		redis.admin().set(FENCE, String.valueOf(ahead));
		assertThat(nextToken()).isEqualTo(ahead + 1);
		assertThat(nextToken()).isEqualTo(ahead + 2);
	}

	private long nextToken() {
		String owner = "a:" + this.owners.incrementAndGet();
		Claim claim = Claim.of("k", owner, "a", Duration.ofSeconds(30)).fenced(true);
		long token = this.backend.acquire(claim).fencingToken();
		this.backend.release("k", owner);
		return token;
	}

	private long serverMicros() {
		var time = redis.admin().time();
		return Long.parseLong(time.get(0)) * 1_000_000 + Long.parseLong(time.get(1));
	}

	private void open(Client client) {
		this.backend = redis.backend(client);
	}

}
