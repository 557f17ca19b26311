package io.github.distributedlock.benchmark;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The means by which the cases measure.
 *
 * @param options how long to measure, and whom
 * @param store the server that all contestants share
 * @param directory for temporary files
 * @param results takes the results
 */
record Bench(Options options, Store store, Path directory, Results results) {

	static final int MOST_HEAP_MEGABYTES = 256;

	/** Leaves room for the JVMs of all contestants at the same time. */
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
