package io.github.distributedlock.faults;

import java.nio.file.Path;
import java.time.Duration;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.faults.Recorder.Held;
import io.github.distributedlock.fixtures.ChildJvm;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.JvmProcess;

/**
 * A separate JVM that waits for a lock when the test says so, and then holds the lock
 * until the test asks for the release. The lock may be granted to the JVM.
 */
final class RecordedWaiter implements AutoCloseable {

	private final JvmProcess process;

	private final String instance;

	private RecordedWaiter(JvmProcess process) {
		this.process = process;
		this.instance = process.awaitLineAfter("instance ");
	}

	/**
	 * Starts the JVM.
	 * @param file for its history
	 */
	static RecordedWaiter of(String key, Client client, int port, Path file) {
		return of(key, client, port, file, Trial.LEASE, false);
	}

	static RecordedWaiter of(String key, Client client, int port, Path file, Duration lease, boolean fair) {
		return new RecordedWaiter(RecordedJvm.start(RecordedWaiter.class, key, client, port, file,
				String.valueOf(lease.toMillis()), String.valueOf(fair)));
	}

	JvmProcess process() {
		return this.process;
	}

	/** Returns the instance of the JVM's owners. */
	String instance() {
		return this.instance;
	}

	/** Lets the JVM ask for the lock, and wait. */
	void request() {
		this.process.send("request");
	}

	/**
	 * Waits until the JVM has the lock.
	 * @return the owner
	 */
	String awaitOwner() {
		return this.process.awaitLineAfter("owner ");
	}

	/** Lets the JVM give the lock back. */
	void release() {
		this.process.send("release");
		this.process.awaitLine("released");
	}

	@Override
	public void close() {
		this.process.close();
	}

	public static void main(String[] arguments) throws InterruptedException {
		RecordedJvm jvm = RecordedJvm.of(arguments, Duration.ofMillis(Long.parseLong(arguments[4])));
		boolean fair = Boolean.parseBoolean(arguments[5]);
		try (LockHandle first = jvm.engine().acquire(LockRequest.of("warm-up").waitTime(Workload.PATIENCE))) {
			System.out.println("instance " + Claim.instanceOf(first.owner()));
		}
		while (true) {
			ChildJvm.awaitLine();
			LockRequest request = LockRequest.of(jvm.key()).waitTime(Workload.PATIENCE).fair(fair);
			try (Held held = jvm.recorder().acquire(jvm.engine(), request).orElseThrow()) {
				System.out.println("owner " + held.handle().owner());
				ChildJvm.awaitLine();
			}
			System.out.println("released");
		}
	}

}
