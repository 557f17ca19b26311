package io.github.distributedlock.multijvm;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.ChildJvm;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Driver;
import io.github.distributedlock.fixtures.Patience;

/**
 * A JVM whose threads want one lock all the time, as often as ordered.
 */
final class Sharer {

	static final String KEY = "shared-by-all";

	private static final Duration PATIENCE = Patience.PATIENCE;

	private Sharer() {
	}

	/**
	 * Returns the order for such a JVM, which says "ready", waits for "go", and says how
	 * many "holds" there were.
	 */
	static String order(Client client, int port, int threads, Duration hold, Duration slice, Duration duration) {
		return String.join(" ", client.name(), String.valueOf(port), String.valueOf(threads), hold.toString(),
				slice.toString(), duration.toString());
	}

	public static void main(String[] arguments) throws Exception {
		while (true) {
			String[] order = ChildJvm.awaitLine().split(" ");
			Client client = Client.valueOf(order[0]);
			try (RedisLockBackend backend = client.backend(Integer.parseInt(order[1]));
					LockEngine engine = LockEngine.builder(backend)
						.application(client.name())
						.localSlice(Duration.parse(order[4]))
						.build()) {
				// Connects before anything counts.
				engine.run(LockRequest.of("warm-up").waitTime(Patience.PATIENCE), () -> {
				});
				System.out.println("ready");
				ChildJvm.awaitLine();
				System.out.println("holds " + share(engine, Integer.parseInt(order[2]), Duration.parse(order[3]),
						Duration.parse(order[5])));
			}
		}
	}

	private static long share(LockEngine engine, int threads, Duration hold, Duration duration)
			throws InterruptedException {
		LongAdder holds = new LongAdder();
		CountDownLatch running = new CountDownLatch(threads);
		long end = System.nanoTime() + duration.toNanos();
		for (int i = 0; i < threads; i++) {
			new Thread(() -> {
				while (System.nanoTime() - end < 0) {
					try (LockHandle handle = Driver.of(engine).acquire(LockRequest.of(KEY).waitTime(PATIENCE))) {
						if (!hold.isZero()) {
							LockSupport.parkNanos(hold.toNanos());
						}
						handle.checkHeld();
						holds.increment();
					}
				}
				running.countDown();
			}, "sharer-" + i).start();
		}
		running.await();
		return holds.sum();
	}

}
