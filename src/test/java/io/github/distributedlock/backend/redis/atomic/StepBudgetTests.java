package io.github.distributedlock.backend.redis.atomic;

import java.time.Duration;

import io.github.distributedlock.backend.redis.connection.Lane;
import io.github.distributedlock.backend.redis.connection.OwnConnections;
import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.Link;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.beans.DirectFieldAccessor;
import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link StepBudget}.
 */
class StepBudgetTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	@Test
	void aConnectionStaysIfAStepOfManyCommandsRunsOutOfTimeOnIt() {
		OwnConnections connections = OwnConnections.derive(Client.LETTUCE.connectTo(redis.port()), Patience.COMMAND);
		redis.closing(connections::close);
		Lane lane = connections.shared().commands();
		Object[] channels = new Object[2];
		lane.run((link) -> channels[0] = channel(link));
		StepBudget budget = new StepBudget(Duration.ZERO);
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> lane.run((link) -> {
			budget.check();
			return link.call(Command.of(Command.Verb.GET, KeyNames.bytes("k")));
		})).withMessageContaining("too little time");
		lane.run((link) -> channels[1] = channel(link));
		assertThat(channels[1]).isSameAs(channels[0]);
	}

	private static Object channel(Link link) {
		return new DirectFieldAccessor(link).getPropertyValue("sender");
	}

}
