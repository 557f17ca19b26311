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
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.ChildJvm;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Driver;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.tck.History;
import redis.clients.jedis.Jedis;

/**
 * A JVM of which some threads read a number in Redis all the time, under a lock that they
 * have together, and one counts it up alone. Arguments: {@link Together}, client, port,
 * duration, history of the readers, history of the writer. It says "ready", waits for
 * "go", and says how often it "wrote".
 */
final class TogetherAndAlone {

	/** The number, and the lock on it. */
	static final String KEY = "number";

	static final int PERMITS = 3;

	static final int READERS = 4;

	/**
	 * How often each thread has the lock at least, however slow the machine is.
	 */
	static final int LEAST = 25;

	private static final Duration PATIENCE = Patience.PATIENCE;

	// So long that holds of several threads overlap nearly always.
	private static final long READING_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

	private final LockEngine engine;

	private final int port;

	private final long end;

	private TogetherAndAlone(LockEngine engine, int port, Duration duration) {
		this.engine = engine;
		this.port = port;
		this.end = System.nanoTime() + duration.toNanos();
	}

	/**
	 * How threads have the lock together.
	 */
	enum Together {

		READERS, PERMITS;

		LockRequest request() {
			LockRequest request = LockRequest.of(KEY).waitTime(PATIENCE);
			return (this == READERS) ? request.mode(LockMode.SHARED) : request.permits(TogetherAndAlone.PERMITS);
		}

	}

	public static void main(String[] arguments) throws Exception {
		int port = Integer.parseInt(arguments[2]);
		LockEngine engine = LockEngine.builder(Client.valueOf(arguments[1]).backend(port)).build();
		// Connects before anything counts.
		engine.run(LockRequest.of("warm-up-" + ProcessHandle.current().pid()).waitTime(PATIENCE), () -> {
		});
		System.out.println("ready");
		ChildJvm.awaitLine();
		try (History reading = History.write(Path.of(arguments[4]));
				History writing = History.write(Path.of(arguments[5]))) {
			System.out.println("wrote " + new TogetherAndAlone(engine, port, Duration.parse(arguments[3]))
				.run(Together.valueOf(arguments[0]).request(), reading, writing));
		}
		ChildJvm.awaitLine();
	}

	private long run(LockRequest together, History reading, History writing) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(READERS + 1);
		List<Future<Long>> readers = new ArrayList<>();
		for (int i = 0; i < READERS; i++) {
			readers.add(threads.submit((Callable<Long>) () -> repeat(together, false, reading)));
		}
		LockRequest alone = LockRequest.of(KEY).waitTime(PATIENCE);
		long written = threads.submit((Callable<Long>) () -> repeat(alone, true, writing)).get();
		for (Future<Long> reader : readers) {
			reader.get();
		}
		threads.shutdown();
		return written;
	}

	private long repeat(LockRequest request, boolean writes, History history) {
		long count = 0;
		try (Jedis numbers = new Jedis("localhost", this.port, (int) PATIENCE.toMillis())) {
			while (count < LEAST || System.nanoTime() - this.end < 0) {
				try (LockHandle handle = Driver.of(this.engine).acquire(request)) {
					History.Entry entry = history.acquired(handle);
					String before = numbers.get(KEY);
					if (writes) {
						numbers.set(KEY, String.valueOf(Long.parseLong(before) + 1));
					}
					else {
						LockSupport.parkNanos(READING_NANOS);
						if (!before.equals(numbers.get(KEY))) {
							throw new IllegalStateException("Somebody wrote beside a reader");
						}
					}
					entry.end();
				}
				count++;
			}
		}
		return count;
	}

}
