package io.github.distributedlock.backend.redis.connection;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.backend.redis.connection.Command.Verb;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TestRedis;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import io.netty.util.TimerTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LettuceClient}.
 */
class LettuceClientTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	@Test
	void aCommandSetsNoTimer() {
		CountingTimer timer = new CountingTimer();
		ClientResources resources = DefaultClientResources.builder().timer(timer).build();
		OwnConnections connections = OwnConnections.derive(application(resources), Patience.COMMAND);
		Command command = Command.of(Verb.GET, KeyNames.bytes("a"));
		connections.shared().commands().run((link) -> link.call(command)); // Connects.
		timer.set.set(0);
		for (int i = 0; i < 10; i++) {
			connections.shared().commands().run((link) -> link.call(command));
		}
		assertThat(timer.set).hasValue(0);
		connections.close();
		Patience.get(resources.shutdown(), "the end of the client's threads");
		timer.stop();
	}

	private static LettuceConnectionFactory application(ClientResources resources) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("localhost", redis.port()),
				LettuceClientConfiguration.builder().clientResources(resources).build());
		factory.afterPropertiesSet();
		return factory;
	}

	private static final class CountingTimer extends HashedWheelTimer {

		private final AtomicInteger set = new AtomicInteger();

		@Override
		public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
			this.set.incrementAndGet();
			return super.newTimeout(task, delay, unit);
		}

	}

}
