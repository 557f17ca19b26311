package io.github.distributedlock.backend.redis.internal;

import java.time.Duration;

import io.github.distributedlock.fixtures.TestRedis;
import io.lettuce.core.RedisClient;
import io.lettuce.core.codec.ByteArrayCodec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.dao.QueryTimeoutException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link LettuceLane}.
 */
class LettuceLaneTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	@Test
	void anOlderConnectionIsReplacedWhenACommandGotNoAnswer() {
		LettuceLane lane = lane(Duration.ofSeconds(30));
		Object[] links = new Object[2];
		lane.run((link) -> links[0] = link);
		assertThatExceptionOfType(QueryTimeoutException.class).isThrownBy(() -> lane.run((link) -> {
			throw new QueryTimeoutException("thrown by the test");
		}));
		lane.run((link) -> links[1] = link);
		assertThat(links[1]).isNotSameAs(links[0]);
		lane.close();
	}

	@Test
	void anOlderConnectionIsReplacedWhenTheRestOfAStepGotNoAnswer() {
		LettuceLane lane = lane(Duration.ofSeconds(30));
		Object[] links = new Object[2];
		lane.run((link) -> links[0] = link);
		assertThatExceptionOfType(RedisFailures.Unfinished.class).isThrownBy(() -> lane.run((link) -> {
			throw new RedisFailures.Unfinished(new QueryTimeoutException("thrown by the test"));
		}));
		lane.run((link) -> links[1] = link);
		assertThat(links[1]).isNotSameAs(links[0]);
		lane.close();
	}

	private LettuceLane lane(Duration timeout) {
		RedisClient client = RedisClient.create("redis://localhost:" + redis.port());
		redis.closing((AutoCloseable) client::close);
		// A connection has been silent for no time at all, which is enough here.
		return new LettuceLane(
				() -> new LettuceLink(client.connect(ByteArrayCodec.INSTANCE), Duration.ZERO, () -> true), timeout);
	}

}
