package io.github.distributedlock.faults;

import java.nio.file.Path;
import java.util.OptionalLong;

import io.github.distributedlock.LockRequest;
import io.github.distributedlock.faults.Recorder.Held;
import io.github.distributedlock.fixtures.ChildJvm;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.JvmProcess;

/**
 * A separate JVM that holds a lock until the test asks for the release, and reports when
 * the library tells of the loss of the lock.
 */
final class RecordedHolder implements AutoCloseable {

	private final JvmProcess process;

	private final String owner;

	private final long token;

	private RecordedHolder(JvmProcess process) {
		this.process = process;
		this.owner = process.awaitLineAfter("owner ");
		this.token = Long.parseLong(process.awaitLineAfter("token "));
	}

	/**
	 * Starts the JVM, and waits until the JVM holds the lock.
	 * @param file for the history
	 */
	static RecordedHolder of(String key, Client client, int port, Path file) {
		return new RecordedHolder(RecordedJvm.start(RecordedHolder.class, key, client, port, file));
	}

	JvmProcess process() {
		return this.process;
	}

	String owner() {
		return this.owner;
	}

	/** Returns the fencing token of the lock. */
	long token() {
		return this.token;
	}

	/**
	 * Waits until the JVM reports the loss of the lock.
	 * @return when the JVM was told, on the clock that all JVMs of a machine share
	 */
	long awaitLoss() {
		return Long.parseLong(this.process.awaitLineAfter("lost "));
	}

	/**
	 * Lets the JVM give the lock back.
	 */
	void release() {
		this.process.send("release");
		this.process.awaitLine("released");
	}

	@Override
	public void close() {
		this.process.close();
	}

	public static void main(String[] arguments) throws InterruptedException {
		RecordedJvm jvm = RecordedJvm.of(arguments);
		LockRequest request = LockRequest.of(jvm.key()).fenced(true).waitTime(Workload.PATIENCE);
		Held held = jvm.recorder().acquire(jvm.engine(), request).orElseThrow();
		OptionalLong token = held.handle().fencingToken();
		held.handle().onLost(() -> System.out.println("lost " + System.nanoTime()));
		System.out.println("owner " + held.handle().owner());
		System.out.println("token " + token.getAsLong());
		ChildJvm.awaitLine();
		held.close();
		System.out.println("released");
		ChildJvm.awaitLine();
	}

}
