package io.github.distributedlock.backend.jdbc;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

import io.github.distributedlock.LockBackendException;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class StraysTests {

	private static final String REFUSAL = "No connection for locks could be had: The server has not ended 3 sessions"
			+ " whose statements hang (find out what they wait for, such as a disk or a replica)";

	private final AtomicInteger questions = new AtomicInteger();

	private final AtomicReference<UnaryOperator<Set<String>>> server = new AtomicReference<>();

	private final Strays strays = new Strays(Duration.ofHours(1), (tags) -> {
		this.questions.incrementAndGet();
		return this.server.get().apply(tags);
	});

	private static UnaryOperator<Set<String>> fails(boolean withoutEffect) {
		return (tags) -> {
			throw LockBackendException.of("No answer").retryable(true).withoutEffect(withoutEffect).build();
		};
	}

	private void leaveThree() {
		for (String tag : Set.of("a", "b", "c")) {
			this.strays.add(tag, true);
		}
	}

	private void assertRefusesFiveTimes() {
		for (int i = 0; i < 5; i++) {
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(this.strays::end).withMessage(REFUSAL);
		}
	}

	/**
	 * Otherwise locks would be lost after an outage, for as long as the outage lasted.
	 */
	@Test
	void serverThatCanBeReachedAgainIsAskedAtOnce() {
		leaveThree();
		this.server.set(fails(true));
		assertRefusesFiveTimes();
		this.server.set((tags) -> Set.of());
		this.strays.end();
		assertThat(this.questions).hasValue(6);
	}

	/**
	 * Each such question may leave one more session.
	 */
	@Test
	void serverThatDoesNotAnswerIsAskedRarely() {
		leaveThree();
		this.server.set(fails(false));
		assertRefusesFiveTimes();
		assertThat(this.questions).hasValue(1);
	}

}
