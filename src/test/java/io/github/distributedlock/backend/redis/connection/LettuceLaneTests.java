package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;

import io.github.distributedlock.backend.redis.wire.Link;
import io.github.distributedlock.backend.redis.wire.UnfinishedException;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link LettuceLane}.
 */
class LettuceLaneTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	@Test
	void aNewConnectionStaysIfThereWasTooLittleTimeForItsFirstCommand() {
		LettuceLane lane = lane(Duration.ofSeconds(30));
		Object[] channels = new Object[2];
		assertThatExceptionOfType(QueryTimeoutException.class).isThrownBy(() -> lane.run((link) -> {
			channels[0] = channel(link);
			throw new QueryTimeoutException("thrown by the test");
		}));
		lane.run((link) -> channels[1] = channel(link));
		assertThat(channels[1]).isSameAs(channels[0]);
		lane.close();
	}

	@Test
	void aCommandHasWhatTheOpeningLeftOfTheTime() {
		Duration taken = Duration.ofMillis(100);
		LettuceLane lane = new LettuceLane(new Lazy<>(() -> {
			LettuceConnectionFactory factory = open(Patience.COMMAND);
			long end = System.nanoTime() + taken.toNanos();
			await("it has taken so long").until(() -> System.nanoTime() - end > 0);
			return factory;
		}, LettuceConnectionFactory::destroy), Patience.COMMAND);
		Long left = lane.run((link) -> ((LettuceLink) link).timeoutNanos());
		assertThat(Duration.ofNanos(left)).isPositive().isLessThanOrEqualTo(Patience.COMMAND.minus(taken));
		lane.close();
	}

	@Test
	void anOlderConnectionIsReplacedWhenACommandGotNoAnswer() {
		LettuceLane lane = lane(Duration.ofSeconds(30));
		Object[] channels = new Object[2];
		lane.run((link) -> channels[0] = channel(link));
		assertThatExceptionOfType(QueryTimeoutException.class).isThrownBy(() -> lane.run((link) -> {
			throw new QueryTimeoutException("thrown by the test");
		}));
		lane.run((link) -> channels[1] = channel(link));
		assertThat(channels[1]).isNotSameAs(channels[0]);
		lane.close();
	}

	@Test
	void anOlderConnectionIsReplacedWhenTheRestOfAStepGotNoAnswer() {
		LettuceLane lane = lane(Duration.ofSeconds(30));
		Object[] channels = new Object[2];
		lane.run((link) -> channels[0] = channel(link));
		assertThatExceptionOfType(UnfinishedException.class).isThrownBy(() -> lane.run((link) -> {
			throw new UnfinishedException(new QueryTimeoutException("thrown by the test"));
		}));
		lane.run((link) -> channels[1] = channel(link));
		assertThat(channels[1]).isNotSameAs(channels[0]);
		lane.close();
	}

	private LettuceLane lane(Duration timeout) {
		return new LettuceLane(new Lazy<>(() -> open(Duration.ofSeconds(30)), LettuceConnectionFactory::destroy),
				timeout);
	}

	private LettuceConnectionFactory open(Duration commandTimeout) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("localhost", redis.port()),
				LettuceClientConfiguration.builder().commandTimeout(commandTimeout).build());
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	private static Object channel(Link link) {
		return ((LettuceLink) link).sender();
	}

}
