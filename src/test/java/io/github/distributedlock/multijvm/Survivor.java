package io.github.distributedlock.multijvm;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.backend.redis.RedisLockSettings;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.ChildJvm;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Driver;
import io.github.distributedlock.tck.History;

/**
 * A JVM with one thread that wants one lock again and again, whatever fails, and writes
 * down when it held it, until somebody ends it. Some holds are long enough for renewals.
 * Arguments: client, port, lease in milliseconds, history.
 */
final class Survivor {

	private static final long LONGEST_HOLD = Duration.ofMillis(2).toNanos();

	private static final int HOLDS_PER_LONG_ONE = 200;

	private Survivor() {
	}

	public static void main(String[] arguments) throws InterruptedException {
		RedisLockBackend backend = new RedisLockBackend(
				Client.valueOf(arguments[0]).connectTo(Integer.parseInt(arguments[1])), RedisLockSettings.defaults());
		Duration lease = Duration.ofMillis(Long.parseLong(arguments[2]));
		LockEngine engine = LockEngine.builder(backend).leaseTime(lease).build();
		History history = History.write(Path.of(arguments[3]));
		Thread thread = new Thread(() -> surviveForEver(engine, history, lease), "survivor");
		thread.setDaemon(true);
		thread.start();
		ChildJvm.awaitLine();
	}

	private static void surviveForEver(LockEngine engine, History history, Duration lease) {
		ThreadLocalRandom random = ThreadLocalRandom.current();
		while (true) {
			try (LockHandle handle = Driver.of(engine)
				.acquire(LockRequest.of("survived").waitTime(Duration.ofMinutes(5)))) {
				History.Entry entry = history.acquired(handle);
				boolean isLong = random.nextInt(HOLDS_PER_LONG_ONE) == 0;
				LockSupport.parkNanos(isLong ? lease.toNanos() : random.nextLong(LONGEST_HOLD));
				entry.end();
			}
			catch (LockException ex) {
				System.out.println(ex);
			}
		}
	}

}
