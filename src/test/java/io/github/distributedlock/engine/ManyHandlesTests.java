package io.github.distributedlock.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One engine has so many locks that a step for each pair of them would take half an hour.
 * A step for each lock takes two seconds, but may take minutes on a busy machine. A
 * thread looks at each lock that is bound to it, so these locks are detached.
 */
@Timeout(value = 20, unit = TimeUnit.MINUTES)
class ManyHandlesTests {

	private static final int MANY = 250_000;

	@Test
	@Tag("thorough")
	void areAcquiredAndReleasedInAnyOrder() {
		try (LockEngine engine = LockEngine.builder(new InMemoryLockBackend()).build()) {
			List<LockHandle> handles = new ArrayList<>();
			for (int i = 0; i < MANY; i++) {
				handles.add(engine.acquire(LockRequest.of("k" + i).detached(true)));
			}
			for (int i = 0; i < MANY / 2; i++) {
				handles.get(i).close();
				handles.get(MANY - 1 - i).close();
			}
			assertThat(engine.hasQueues()).isFalse();
		}
	}

	@Test
	void ofOneThreadAreReleasedInAnyOrder() {
		try (LockEngine engine = LockEngine.builder(new InMemoryLockBackend()).build()) {
			List<LockHandle> handles = new ArrayList<>();
			for (int i = 0; i < 1000; i++) {
				handles.add(engine.acquire("k"));
			}
			for (int i = 0; i < 500; i++) {
				handles.get(i).close();
				handles.get(999 - i).close();
			}
			assertThat(LockHandle.current()).isEmpty();
			assertThat(engine.hasQueues()).isFalse();
		}
	}

}
