package io.github.distributedlock.backend.redis;

import java.time.Duration;

import io.github.distributedlock.backend.redis.internal.Command;
import io.github.distributedlock.backend.redis.internal.Lane;
import io.github.distributedlock.backend.redis.internal.OwnConnections;
import io.github.distributedlock.backend.redis.internal.RedisClients;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the time that a step of {@link PlainSteps} has.
 */
class StepBudgetTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	@Test
	void aConnectionStaysIfAStepOfManyCommandsRunsOutOfTimeOnIt() {
		OwnConnections connections = RedisClients.derive(Client.LETTUCE.connectTo(redis.port()), Patience.COMMAND);
		redis.closing(connections::close);
		Lane lane = connections.shared().commands();
		Object[] links = new Object[2];
		lane.run((link) -> links[0] = link);
		PlainSteps store = new PlainSteps(CompareAndSet.Native.DELEX, connections, RedisLockSettings.defaults(),
				new UnansweredRenewals());
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> lane.run((link) -> {
			store.requireTime(System.nanoTime() - Duration.ofSeconds(1).toNanos());
			return link.call(Command.of(Command.Verb.GET, KeyNames.bytes("k")));
		})).withMessageContaining("too little time");
		lane.run((link) -> links[1] = link);
		assertThat(links[1]).isSameAs(links[0]);
	}

}
