package io.github.distributedlock.benchmark;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What the cases measure with.
 *
 * @param options how long, and whom
 * @param store the server that all of them share
 * @param directory for files that do not stay
 * @param results where to put what comes out
 */
record Bench(Options options, Store store, Path directory, Results results) {

	static final int MOST_HEAP_MEGABYTES = 256;

	/** So that the JVMs of all contestants have room at the same time. */
	private static final int HEAP_MEGABYTES_OF_A_CONTESTANT = 512;

	int port() {
		return this.store.port();
	}

	/**
	 * Starts JVMs of a contestant and waits until they are ready.
	 * @param contestant who
	 * @param count how many
	 * @return the JVMs, to be closed
	 */
	List<WorkerJvm> start(Contestant contestant, int count) {
		int heap = Math.min(MOST_HEAP_MEGABYTES, HEAP_MEGABYTES_OF_A_CONTESTANT / count);
		List<WorkerJvm> jvms = new ArrayList<>();
		for (int number = 1; number <= count; number++) {
			jvms.add(WorkerJvm.start(contestant, port(), blackboardFile(contestant), number, heap));
		}
		jvms.forEach(WorkerJvm::awaitReady);
		return jvms;
	}

	Blackboard blackboard(Contestant contestant) {
		return new Blackboard(blackboardFile(contestant));
	}

	private Path blackboardFile(Contestant contestant) {
		return this.directory.resolve(contestant.name());
	}

	void flush() {
		this.store.flush();
	}

}
