package io.github.distributedlock.multijvm;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.ChildJvm;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Driver;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.tck.History;

/**
 * A JVM of which some threads hold a lock that has permits, again and again, and one
 * holds it alone. Arguments: client, port, duration, history of the former, history of
 * the latter. It says "ready", waits for "go", and says how often it "held" the lock.
 */
final class Limited {

	static final String KEY = "partner-api";

	static final int PERMITS = 3;

	/**
	 * How often each thread has the lock at least, however slow the machine is.
	 */
	static final int LEAST = 10;

	private static final int THREADS = 4;

	// So long that those of several threads overlap nearly always.
	private static final long HOLD_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

	private final LockEngine engine;

	private final long end;

	private Limited(LockEngine engine, Duration duration) {
		this.engine = engine;
		this.end = System.nanoTime() + duration.toNanos();
	}

	public static void main(String[] arguments) throws Exception {
		LockEngine engine = LockEngine.builder(Client.valueOf(arguments[0]).backend(Integer.parseInt(arguments[1])))
			.build();
		// Connects before anything counts.
		engine.run(LockRequest.of("warm-up-" + ProcessHandle.current().pid()).waitTime(Patience.PATIENCE), () -> {
		});
		System.out.println("ready");
		ChildJvm.awaitLine();
		try (History together = History.write(Path.of(arguments[3]));
				History alone = History.write(Path.of(arguments[4]))) {
			System.out.println("held " + new Limited(engine, Duration.parse(arguments[2])).run(together, alone));
		}
		ChildJvm.awaitLine();
	}

	private long run(History together, History alone) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(THREADS + 1);
		List<Future<Long>> holders = new ArrayList<>();
		for (int i = 0; i < THREADS; i++) {
			holders.add(threads.submit((Callable<Long>) () -> repeat(PERMITS, together)));
		}
		holders.add(threads.submit((Callable<Long>) () -> repeat(1, alone)));
		long held = 0;
		for (Future<Long> holder : holders) {
			held += holder.get();
		}
		threads.shutdown();
		return held;
	}

	private long repeat(int permits, History history) {
		LockRequest request = LockRequest.of(KEY).permits(permits).waitTime(Patience.PATIENCE);
		long count = 0;
		while (count < LEAST || System.nanoTime() - this.end < 0) {
			try (LockHandle handle = Driver.of(this.engine).acquire(request)) {
				History.Entry entry = history.acquired(handle);
				LockSupport.parkNanos(HOLD_NANOS);
				entry.end();
			}
			count++;
		}
		return count;
	}

}
