package io.github.distributedlock.backend.redis.connection;

import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.RedisSystemException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.Subscription;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class LettuceStartTests {

	private static final String NOT_YET = "Currently not connected. Commands are rejected.";

	private static final String NOT_OPENED = "not opened: ";

	private static final String WITHOUT_REASON = NOT_OPENED + "Connection closed prematurely";

	private final Deque<String> answers = new ArrayDeque<>();

	private final RedisConnection connection = (RedisConnection) Proxy.newProxyInstance(
			LettuceStartTests.class.getClassLoader(), new Class<?>[] { RedisConnection.class },
			(proxy, method, arguments) -> {
				if (method.getName().equals("close")) {
					this.answers.add("closed");
					return null;
				}
				if (method.getName().equals("getSubscription")) {
					return this.subscription;
				}
				assertThat(method.getName()).isIn("ping", "subscribe");
				return answer();
			});

	private final Subscription subscription = (Subscription) Proxy.newProxyInstance(
			LettuceStartTests.class.getClassLoader(), new Class<?>[] { Subscription.class },
			(proxy, method, arguments) -> {
				assertThat(method.getName()).isEqualTo("subscribe");
				return answer();
			});

	private @Nullable String answer() {
		String answer = this.answers.remove();
		if (answer.equals("done")) {
			return null;
		}
		if (answer.startsWith(NOT_OPENED)) {
			throw new RedisConnectionFailureException("Unable to connect to Redis",
					new IllegalStateException(answer.substring(NOT_OPENED.length())));
		}
		if (!answer.equals("PONG")) {
			throw new RedisSystemException("Redis exception", new IllegalStateException(answer));
		}
		return answer;
	}

	@Test
	void aSubscriptionThatIsNotTakenYetIsAskedForAgain() {
		this.answers.addAll(List.of(NOT_YET, NOT_YET, "done", "done"));
		LettuceStart.subscribe(this.connection, (message, pattern) -> {
		}, new byte[0]);
		assertThat(this.answers).containsExactly("done");
	}

	@Test
	void aSubscriptionThatIsRefusedIsNotAskedForAgain() {
		this.answers.addAll(List.of("NOPERM this user has no permissions to access one of the channels", "done"));
		assertThatExceptionOfType(RedisSystemException.class)
			.isThrownBy(() -> LettuceStart.subscribe(this.connection, (message, pattern) -> {
			}, new byte[0]));
		assertThat(this.answers).containsExactly("done");
	}

	@Test
	void aSubscriptionOnAConnectionThatFailedFails() {
		for (int i = 0; i < 1_000; i++) {
			this.answers.add(NOT_YET);
		}
		assertThatExceptionOfType(RedisSystemException.class)
			.isThrownBy(() -> LettuceStart.subscribe(this.connection, (message, pattern) -> {
			}, new byte[0]));
		assertThat(this.answers).hasSizeBetween(900, 999);
	}

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
	void aConnectionThatWasClosedBeforeItsReasonWasSeenIsOpenedAgain() {
		String notSeen = NOT_OPENED + "RedisHandshakeHandler not registered";
		String reason = NOT_OPENED + "NOPERM this user has no permissions to run the 'select' command";
		this.answers.addAll(List.of(WITHOUT_REASON, notSeen, reason, "PONG"));
		assertThatExceptionOfType(RedisConnectionFailureException.class)
			.isThrownBy(() -> LettuceStart.await(this.connection))
			.withStackTraceContaining("'select'");
		assertThat(this.answers).containsExactly("PONG", "closed");
	}

	@Test
	void aConnectionThatIsAlwaysClosedIsOpenedAFewTimes() {
		for (int i = 0; i < 20; i++) {
			this.answers.add(WITHOUT_REASON);
		}
		assertThatExceptionOfType(RedisConnectionFailureException.class)
			.isThrownBy(() -> LettuceStart.await(this.connection));
		assertThat(this.answers).hasSize(16).endsWith("closed");
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
