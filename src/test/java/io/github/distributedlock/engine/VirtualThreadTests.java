package io.github.distributedlock.engine;

import java.lang.reflect.InvocationTargetException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The engine on virtual threads, of which there are many more than carriers: a thread
 * that blocked its carrier while waiting would stop the holder, too.
 */
@EnabledForJreRange(min = JRE.JAVA_21)
class VirtualThreadTests {

	@Test
	void thousandVirtualThreadsTakeTurns() throws Exception {
		int[] counter = new int[1];
		ExecutorService executor = virtualThreads();
		try (LockEngine engine = LockEngine.builder(new InMemoryLockBackend()).build()) {
			List<Future<?>> nodes = new ArrayList<>();
			LockRequest request = LockRequest.of("k").waitTime(Duration.ofMinutes(1));
			for (int i = 0; i < 1000; i++) {
				nodes.add(executor.submit(() -> engine.run(request, () -> {
					Thread.yield();
					assertThat(LockHandle.current()).isPresent();
					counter[0]++;
				})));
			}
			for (Future<?> node : nodes) {
				node.get(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS);
			}
		}
		finally {
			executor.shutdownNow();
		}
		assertThat(counter[0]).isEqualTo(1000);
	}

	/**
	 * By reflection, since the sources compile on JDK 17.
	 */
	private static ExecutorService virtualThreads()
			throws NoSuchMethodException, IllegalAccessException, InvocationTargetException {
		return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
	}

}
