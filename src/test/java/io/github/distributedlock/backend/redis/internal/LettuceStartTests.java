package io.github.distributedlock.backend.redis.internal;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.Relay;
import io.github.distributedlock.fixtures.TestRedis;
import io.lettuce.core.RedisException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.dao.QueryTimeoutException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A new connection of Lettuce is handed out only when it takes commands.
 */
class LettuceStartTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	private final Deque<Object> answers = new ArrayDeque<>();

	@Test
	void connectionIsAskedForAnAnswerFirst() throws Exception {
		try (Relay relay = new Relay(redis.port())) {
			Queue<String> asked = new ConcurrentLinkedQueue<>();
			relay.add((request, connection) -> {
				asked.add(request.command());
				return false;
			});
			OwnConnections connections = RedisClients.derive(Client.LETTUCE.connectTo(relay.port()), Patience.COMMAND);
			connections.shared().commands().run((link) -> {
				assertThat(asked).contains("PING");
				return null;
			});
			connections.signals().open().close();
			assertThat(asked.stream().filter("PING"::equals)).hasSize(2);
			connections.close();
		}
	}

	@Test
	void anotherIsOpenedWhileItTakesNoCommands() {
		this.answers.addAll(List.of(notYet(), notYet(), "first", "second"));
		assertThat(LettuceClient.untilReady(this::open)).isEqualTo("first");
		assertThat(this.answers).hasSize(1);
	}

	@Test
	void connectionIsNotTriedWithoutEnd() {
		for (int i = 0; i < 1_000; i++) {
			this.answers.add(notYet());
		}
		assertThatExceptionOfType(UnsentException.class).isThrownBy(() -> LettuceClient.untilReady(this::open));
		assertThat(this.answers).hasSizeBetween(900, 999);
	}

	@Test
	void connectionIsNotHandedOutWithoutAnAnswer() {
		this.answers.addAll(List.of(new QueryTimeoutException("thrown by the test"), "second"));
		assertThatExceptionOfType(QueryTimeoutException.class).isThrownBy(() -> LettuceClient.untilReady(this::open));
		assertThat(this.answers).hasSize(1);
	}

	private Object open() {
		Object answer = this.answers.remove();
		if (answer instanceof RuntimeException failure) {
			throw failure;
		}
		return answer;
	}

	private static RuntimeException notYet() {
		return new UnsentException(new RedisException("Currently not connected. Commands are rejected."));
	}

}
