package io.github.distributedlock.test;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Runs each task at once on a thread of its own, so that no task waits for another's
 * thread as it would on the common pool, which may have one only. The threads end with
 * the test: what runs on is interrupted, and a test fails that leaves a thread behind.
 * <p>
 * To be registered in a field, with {@code @RegisterExtension}.
 */
public final class OwnThreads implements Executor, AfterEachCallback {

	private final List<Thread> threads = new CopyOnWriteArrayList<>();

	@Override
	public void execute(Runnable task) {
		Thread thread = new Thread(task, "own-" + this.threads.size());
		thread.setDaemon(true);
		this.threads.add(thread);
		thread.start();
	}

	/**
	 * The threads of this test.
	 * @return in the order in which they were started
	 */
	public List<Thread> all() {
		return List.copyOf(this.threads);
	}

	@Override
	public void afterEach(ExtensionContext context) {
		this.threads.forEach(Thread::interrupt);
		Awaitility.await("the end of the test's threads " + this.threads)
			.until(() -> this.threads.stream().noneMatch(Thread::isAlive));
		this.threads.clear();
	}

}
