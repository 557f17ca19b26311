package io.github.distributedlock.multijvm;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.tck.History.Hold;
import io.github.distributedlock.tck.HistoryChecker;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Permits with a {@code minHoldTime} limit how many calls begin in any window of that
 * length, though each call ends at once.
 * <p>
 * A call that was requested at one time and begun at another has got its permit between.
 * So that permit is taken from when the call has begun until the window after the request
 * is over. No more of these spans may overlap than there are permits.
 */
class RateLimitTests {

	private static final int PERMITS = 10;

	private static final int CALLS = 10 * PERMITS;

	private static final Duration WINDOW = Duration.ofMillis(200);

	/** The server counts in milliseconds, and its clock may be adjusted a little. */
	private static final Duration INEXACT = Duration.ofMillis(2);

	private static final LockRequest CALL = LockRequest.of("partner").permits(PERMITS).minHoldTime(WINDOW);

	private final Queue<Hold> calls = new ConcurrentLinkedQueue<>();

	@ParameterizedTest
	@MethodSource("io.github.distributedlock.multijvm.PermitsOnServerTests#servers")
	void noMoreCallsBeginInAnyWindowThanThereArePermits(String server) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(4);
		try (RedisServers.Server redis = RedisServers.start(server);
				LockEngine one = LockEngine.builder(Client.JEDIS.backend(redis.port())).build();
				LockEngine two = LockEngine.builder(Client.LETTUCE.backend(redis.port())).build()) {
			List<Future<?>> callers = new ArrayList<>();
			for (LockEngine jvm : List.of(one, two, one, two)) {
				callers.add(threads.submit((Callable<Void>) () -> call(jvm)));
			}
			for (Future<?> caller : callers) {
				Patience.get(caller, "calls");
			}
		}
		finally {
			threads.shutdown();
		}
		HistoryChecker.assertAtMost(PERMITS, this.calls);
		assertThat(HistoryChecker.mostTogether(this.calls)).as("all permits").hasSize(PERMITS);
	}

	private Void call(LockEngine jvm) {
		while (this.calls.size() < CALLS) {
			long requested = System.nanoTime();
			jvm.tryAcquire(CALL).ifPresent((handle) -> begun(requested, handle));
		}
		return null;
	}

	private void begun(long requested, LockHandle handle) {
		long begun = System.nanoTime();
		handle.close();
		long taken = requested + WINDOW.minus(INEXACT).toNanos();
		if (taken > begun) {
			this.calls.add(new Hold("partner", handle.owner(), begun, taken, true));
		}
	}

}
