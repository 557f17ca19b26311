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

	/**
	 * The lengths of windows, of which a later one is for a machine that does not begin
	 * as many calls in the one before as there are permits.
	 */
	private static final List<Duration> WINDOWS = List.of(Duration.ofMillis(200), Duration.ofSeconds(1),
			Duration.ofSeconds(5));

	/** The server counts in milliseconds, and its clock may be adjusted a little. */
	private static final Duration INEXACT = Duration.ofMillis(2);

	private final Queue<Hold> calls = new ConcurrentLinkedQueue<>();

	@ParameterizedTest
	@MethodSource("io.github.distributedlock.fixtures.RedisServers#names")
	void noMoreCallsBeginInAnyWindowThanThereArePermits(String server) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(4);
		try (RedisServers.Server redis = RedisServers.start(server);
				LockEngine one = LockEngine.builder(Client.JEDIS.backend(redis.port())).build();
				LockEngine two = LockEngine.builder(Client.LETTUCE.backend(redis.port())).build()) {
			for (int i = 0; i < WINDOWS.size() && HistoryChecker.mostTogether(this.calls).size() < PERMITS; i++) {
				this.calls.clear();
				Duration window = WINDOWS.get(i);
				List<Future<?>> callers = new ArrayList<>();
				for (LockEngine jvm : List.of(one, two, one, two)) {
					callers.add(threads.submit((Callable<Void>) () -> call(jvm, window)));
				}
				for (Future<?> caller : callers) {
					Patience.get(caller, "calls");
				}
				HistoryChecker.assertAtMost(PERMITS, this.calls);
			}
		}
		finally {
			threads.shutdown();
		}
		assertThat(HistoryChecker.mostTogether(this.calls)).as("all permits").hasSize(PERMITS);
	}

	private Void call(LockEngine jvm, Duration window) {
		LockRequest call = LockRequest.of("partner " + window).permits(PERMITS).minHoldTime(window);
		while (this.calls.size() < CALLS) {
			long requested = System.nanoTime();
			jvm.tryAcquire(call).ifPresent((handle) -> begun(requested, window, handle));
		}
		return null;
	}

	private void begun(long requested, Duration window, LockHandle handle) {
		long begun = System.nanoTime();
		handle.close();
		long taken = requested + window.minus(INEXACT).toNanos();
		if (taken > begun) {
			this.calls.add(new Hold(handle.keys().get(0), handle.owner(), begun, taken, true));
		}
	}

}
