package io.github.distributedlock.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.Stream;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * So many locks on one thread that a step for each pair of them would take half an hour.
 * A step for each takes two seconds, but may take minutes on a busy machine.
 */
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class ManyHandlesTests {

	private static final int MANY = 250_000;

	@ParameterizedTest
	@MethodSource
	void areTakenAndGivenBackInAnyOrder(IntFunction<String> keys) {
		try (LockEngine engine = LockEngine.builder(new InMemoryLockBackend()).build()) {
			List<LockHandle> handles = new ArrayList<>();
			for (int i = 0; i < MANY; i++) {
				handles.add(engine.acquire(keys.apply(i)));
			}
			for (int i = 0; i < MANY / 2; i++) {
				handles.get(i).close();
				handles.get(MANY - 1 - i).close();
			}
			assertThat(LockHandle.current()).isEmpty();
			assertThat(engine.hasQueues()).isFalse();
		}
	}

	static Stream<IntFunction<String>> areTakenAndGivenBackInAnyOrder() {
		return Stream.of((i) -> "k", (i) -> "k" + i);
	}

}
