package io.github.distributedlock.multijvm;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.ChildJvm;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Driver;
import io.github.distributedlock.tck.History;

/**
 * A JVM whose threads hand one lock on to each other, and write down the holders, until
 * somebody ends the JVM. Arguments: client, port, lease in milliseconds, history. Prints
 * "running" at the beginning, and "lost" with the owner for each lock whose loss it is
 * told of.
 */
final class Slicer {

	static final String KEY = "handed-on";

	private static final int THREADS = 4;

	private static final long HOLD = Duration.ofMillis(3).toNanos();

	private Slicer() {
	}

	public static void main(String[] arguments) throws InterruptedException {
		RedisLockBackend backend = Client.valueOf(arguments[0]).backend(Integer.parseInt(arguments[1]));
		LockEngine engine = LockEngine.builder(backend)
			.watchdogTimeout(Duration.ofMillis(Long.parseLong(arguments[2])))
			.listener(Slicer::tell)
			.build();
		History history = History.write(Path.of(arguments[3]));
		for (int i = 0; i < THREADS; i++) {
			new Thread(() -> holdForEver(engine, history), "slicer-" + i).start();
		}
		System.out.println("running");
		ChildJvm.awaitLine();
	}

	private static void tell(LockEvent event) {
		if (event instanceof LockEvent.Lost lost) {
			System.out.println("lost " + lost.owner());
		}
	}

	private static void holdForEver(LockEngine engine, History history) {
		while (true) {
			try (LockHandle handle = Driver.of(engine).acquire(LockRequest.of(KEY).waitTime(Duration.ofMinutes(5)))) {
				History.Entry entry = history.acquired(handle);
				LockSupport.parkNanos(HOLD);
				entry.end();
			}
		}
	}

}
