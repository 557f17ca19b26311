package io.github.distributedlock.backend.redis.internal;

import java.time.Duration;
import java.util.List;

import io.github.distributedlock.fixtures.TestRedis;
import io.lettuce.core.RedisClient;
import io.lettuce.core.codec.ByteArrayCodec;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.dao.QueryTimeoutException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class LettuceLaneTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	@ParameterizedTest
	@MethodSource("failures")
	void anOlderConnectionIsReplacedWhenACommandGotNoAnswer(RuntimeException failure) {
		LettuceLane lane = lane(Duration.ofSeconds(30));
		Object[] links = new Object[2];
		lane.run((link) -> links[0] = link);
		assertThatThrownBy(() -> lane.run((link) -> {
			throw failure;
		})).isSameAs(failure);
		lane.run((link) -> links[1] = link);
		assertThat(links[1]).isNotSameAs(links[0]);
		lane.close();
	}

	static List<RuntimeException> failures() {
		QueryTimeoutException unanswered = new QueryTimeoutException("thrown by the test");
		return List.of(unanswered, RedisFailures.unfinished(unanswered));
	}

	private LettuceLane lane(Duration timeout) {
		RedisClient client = RedisClient.create("redis://localhost:" + redis.port());
		redis.closing((AutoCloseable) client::close);
		// A connection has been silent for no time at all, which is enough here.
		return new LettuceLane(
				() -> new LettuceLink(client.connect(ByteArrayCodec.INSTANCE), Duration.ZERO, () -> true), timeout);
	}

}
