package io.github.distributedlock.backend.redis;

import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

import org.junit.jupiter.api.Test;

import org.springframework.data.redis.RedisSystemException;
import org.springframework.data.redis.connection.RedisConnection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class LettuceStartTests {

	private static final String NOT_YET = "Currently not connected. Commands are rejected.";

	private final Deque<String> answers = new ArrayDeque<>();

	private final RedisConnection connection = (RedisConnection) Proxy.newProxyInstance(
			LettuceStartTests.class.getClassLoader(), new Class<?>[] { RedisConnection.class },
			(proxy, method, arguments) -> {
				if (method.getName().equals("close")) {
					this.answers.add("closed");
					return null;
				}
				assertThat(method.getName()).isEqualTo("ping");
				String answer = this.answers.remove();
				if (!answer.equals("PONG")) {
					throw new RedisSystemException("Redis exception", new IllegalStateException(answer));
				}
				return answer;
			});

	@Test
	void aConnectionThatDoesNotTakeCommandsYetIsWaitedFor() {
		this.answers.addAll(List.of(NOT_YET, NOT_YET, "PONG", "PONG"));
		assertThat(LettuceStart.await(this.connection)).isSameAs(this.connection);
		assertThat(this.answers).containsExactly("PONG");
	}

	@Test
	void aRefusalIsAnAnswer() {
		this.answers.addAll(List.of("NOPERM this user has no permissions to run the 'ping' command", "PONG"));
		LettuceStart.await(this.connection);
		assertThat(this.answers).containsExactly("PONG");
	}

	@Test
	void aConnectionWithoutAnAnswerIsNotHandedOut() {
		this.answers.add("Command timed out after 1 second(s)");
		assertThatExceptionOfType(RedisSystemException.class).isThrownBy(() -> LettuceStart.await(this.connection));
		assertThat(this.answers).containsExactly("closed");
	}

	@Test
	void aConnectionThatFailedIsNotWaitedForForEver() {
		for (int i = 0; i < 1_000; i++) {
			this.answers.add(NOT_YET);
		}
		LettuceStart.await(this.connection);
		assertThat(this.answers).hasSizeBetween(900, 999);
	}

}
