package io.github.distributedlock.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.LongAdder;

import io.github.distributedlock.LockRequest;
import io.github.distributedlock.faults.Recorder.Held;
import io.github.distributedlock.fixtures.Patience;

import static org.awaitility.Awaitility.await;

/**
 * The use of locks that a fault disturbs. In each member two threads contend for two keys
 * with short holds, and one thread for a key that each holder keeps for as long as
 * possible.
 */
final class Workload {

	/** The key with one long, renewed hold: the first member's to begin with. */
	static final String LONG = "long";

	/** A key with short holds. */
	static final String SHORT = "short";

	/** Another one, with fencing tokens. */
	static final String FENCED = "fenced";

	private static final int LONGEST_PAUSE_MILLIS = 8;

	private static final Duration WAIT = Duration.ofMillis(400);

	static final Duration PATIENCE = Patience.PATIENCE;

	private static final Duration COLD_START = Duration.ofSeconds(60);

	private final List<Thread> threads = new ArrayList<>();

	private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

	private final Map<String, LongAdder> acquired = new ConcurrentHashMap<>();

	private final Recorder recorder;

	private volatile boolean over;

	Workload(Recorder recorder) {
		this.recorder = recorder;
	}

	void begin(List<Member> members) {
		for (int i = 0; i < members.size(); i++) {
			Member member = members.get(i);
			// Loads classes and opens connections, which may take longer than a lease.
			member.engine().acquire(LockRequest.of("warm-up").leaseTime(COLD_START).waitTime(COLD_START)).close();
			start(() -> repeat(member, LONG, (held) -> held.hold(() -> this.over)));
			await().until(() -> this.acquired.containsKey(LONG));
			start(() -> repeat(member, SHORT, Workload::holdShortly));
			start(() -> repeat(member, FENCED, Workload::holdShortly));
		}
	}

	/**
	 * Waits until each key was acquired some more times, the long one until somebody
	 * holds it.
	 * @param when the moment to name if that did not happen
	 */
	void awaitProgress(String when) {
		for (String key : List.of(SHORT, FENCED)) {
			long before = acquired(key);
			await("'" + key + "' is acquired again " + when).atMost(PATIENCE)
				.until(() -> acquired(key) >= before + 10 || !this.failures.isEmpty());
		}
		await("'" + LONG + "' is held again " + when).atMost(PATIENCE)
			.until(() -> this.recorder.isHeld(LONG) || !this.failures.isEmpty());
	}

	private long acquired(String key) {
		return this.acquired.getOrDefault(key, new LongAdder()).sum();
	}

	/**
	 * Ends the workload, and waits until all locks are given back.
	 */
	void end() throws InterruptedException {
		stop();
		for (Thread thread : this.threads) {
			thread.join(PATIENCE.toMillis());
			if (thread.isAlive()) {
				AssertionError stuck = new AssertionError(thread.getName() + " is stuck");
				stuck.setStackTrace(thread.getStackTrace());
				this.failures.add(stuck);
			}
		}
		for (Throwable failure : this.failures) {
			throw new AssertionError("The workload failed", failure);
		}
	}

	/**
	 * Ends a thread at the thread's next look.
	 */
	void stop() {
		this.over = true;
	}

	private void start(Work work) {
		Thread thread = new Thread(() -> {
			try {
				work.run();
			}
			catch (Throwable ex) {
				this.failures.add(ex);
			}
		}, "worker-" + this.threads.size());
		this.threads.add(thread);
		thread.start();
	}

	private void repeat(Member member, String key, Use use) throws InterruptedException {
		while (!this.over) {
			// Some may not wait: then one attempt is all.
			Duration waitTime = (ThreadLocalRandom.current().nextInt(4) == 0) ? Duration.ZERO : WAIT;
			LockRequest request = LockRequest.of(key).waitTime(waitTime).fenced(key.equals(FENCED));
			Optional<Held> held = this.recorder.acquire(member.engine(), request);
			if (held.isPresent()) {
				try (Held mine = held.get()) {
					this.acquired.computeIfAbsent(key, (same) -> new LongAdder()).increment();
					use.of(mine);
				}
			}
			pause();
		}
	}

	private static void holdShortly(Held held) throws InterruptedException {
		pause();
	}

	private static void pause() throws InterruptedException {
		Thread.sleep(ThreadLocalRandom.current().nextInt(LONGEST_PAUSE_MILLIS) + 1);
	}

	private interface Work {

		void run() throws Exception;

	}

	private interface Use {

		void of(Held held) throws InterruptedException;

	}

}
