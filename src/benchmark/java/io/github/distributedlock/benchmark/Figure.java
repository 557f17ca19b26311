package io.github.distributedlock.benchmark;

import java.util.Locale;

/**
 * The measured figures, each with its unit and its load.
 */
enum Figure {

	OWN_KEYS("Throughput, each thread its own key, by JMH", "threads", "operations/s"),

	ONE_KEY("Throughput, one key, by JMH", "threads", "operations/s"),

	BY_THREADS("Throughput against threads, one key, one JVM", "threads", "operations/s"),

	BY_OWN_KEYS("Throughput against threads with keys of their own, one JVM", "threads", "operations/s"),

	BY_OWN_KEYS_P99("Lock and unlock, p99, threads with keys of their own, one JVM", "threads", "ms"),

	BY_OWN_KEYS_CPU("Processor time per operation, threads with keys of their own, JVM and server", "threads", "µs"),

	BY_OWN_KEYS_REQUESTS("Requests per operation, threads with keys of their own, one JVM", "threads", "requests"),

	BY_JVMS("Throughput against JVMs of 4 threads, one key", "JVMs", "operations/s"),

	JVMS_OF_ONE("Throughput against JVMs of one thread, one key", "JVMs", "operations/s"),

	JVMS_OF_ONE_P50("Lock and unlock, p50, JVMs of one thread, one key", "JVMs", "ms"),

	JVMS_OF_ONE_P99("Lock and unlock, p99, JVMs of one thread, one key", "JVMs", "ms"),

	JVMS_OF_ONE_WAIT_P50("Wait for the lock, p50, JVMs of one thread, one key", "JVMs", "ms"),

	JVMS_OF_ONE_WAIT_P99("Wait for the lock, p99, JVMs of one thread, one key", "JVMs", "ms"),

	JVMS_OF_ONE_REQUESTS("Requests per operation, JVMs of one thread, one key", "JVMs", "requests"),

	JVMS_OF_ONE_COMMANDS("Server commands per operation, JVMs of one thread, one key", "JVMs", "commands"),

	JVMS_OF_ONE_CPU("Processor time per operation, JVMs of one thread, one key, JVMs and server", "JVMs", "µs"),

	JVMS_OF_ONE_SHARE("Share of the JVM that got least, JVMs of one thread, one key", "JVMs", "%"),

	JVMS_OF_ONE_HAND_OVERS("Hand-overs between JVMs of one thread, one key", "JVMs", "hand-overs/s"),

	TWO_JVMS("Throughput of 2 JVMs of 8 threads, one key", "JVMs", "operations/s"),

	TWO_JVMS_SHARE("Share of the JVM that got less, 2 JVMs of 8 threads", "JVMs", "%"),

	FAIRNESS("Slowest thread over fastest, one key, one JVM", "threads", "ratio"),

	TWO_JVMS_FAIRNESS("Slowest thread over fastest, 2 JVMs of 8 threads", "JVMs", "ratio"),

	WAITS("Wait for the lock, 16 threads, one key, held for 1 ms", "percentile", "ms"),

	COMMANDS("Server commands per operation, one key, one JVM", "threads", "commands"),

	COMMANDS_BY_JVMS("Server commands per operation, JVMs of 4 threads, one key", "JVMs", "commands"),

	HAND_OVERS("Operations until the lock goes to another JVM, JVMs of 4 threads", "JVMs", "operations"),

	ATTEMPTS("Attempts per hand-over between JVMs of 4 threads", "JVMs", "attempts"),

	PERMITS("Throughput of 4 JVMs of 4 threads, 4 permits", "JVMs", "operations/s"),

	PERMITS_SHARE("Share of the JVM that got least, 4 JVMs of 4 threads, 4 permits", "JVMs", "%"),

	PERMITS_REQUESTS("Requests per operation, 4 JVMs of 4 threads, 4 permits", "JVMs", "requests"),

	PERMITS_IDLE("Requests of waiters of one JVM while others have all permits", "waiters", "requests/s"),

	IDLE_REQUESTS("Requests of waiters of one JVM while another one holds", "waiters", "requests/s"),

	IDLE_COMMANDS("Server commands for waiters of one JVM while another one holds", "waiters", "commands/s"),

	HAND_OVER("From a release to the next holder, in another JVM, p50", "waiters", "ms"),

	DRAIN("Time until all waiters of one JVM have had the lock", "waiters", "ms"),

	RENEWAL("Processor time for locks that are held, in the JVM", "locks", "% of a core"),

	RENEWAL_SERVER("Processor time for locks that are held, in the server", "locks", "% of a core"),

	CALL("A call of a proxied method, memory backend", "", "µs"),

	CALL_ALLOCATION("Allocation of a call of a proxied method, memory backend", "", "bytes");

	private final String title;

	private final String load;

	private final String unit;

	Figure(String title, String load, String unit) {
		this.title = title;
		this.load = load;
		this.unit = unit;
	}

	String title() {
		return this.title;
	}

	/** Returns the unit of the load; empty if there is none. */
	String load() {
		return this.load;
	}

	String unit() {
		return this.unit;
	}

	/** Returns the heading above the contestants in a table. */
	String measure() {
		return this.load.isEmpty() ? this.unit : this.unit + ", by " + this.load;
	}

	/** How a load is shown. */
	String column(int load) {
		if (this == WAITS) {
			return (load == 100) ? "max" : "p" + load;
		}
		return this.load.isEmpty() ? "" : String.format(Locale.ROOT, "%,d", load);
	}

}
