package io.github.distributedlock.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Relay;
import org.opentest4j.TestAbortedException;

import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;

/**
 * One row of the table: a fault, with one client, in one or more trials.
 */
final class FaultRow {

	/** How many trials each row has: {@code -Dlock.faults.trials=20} for a long run. */
	static final int TRIALS = Integer.getInteger("lock.faults.trials", 1);

	private static final String LIBRARY = DistributedLock.class.getPackageName();

	private static final LogLevel LOG_LEVEL = LogLevel.valueOf(System.getProperty("lock.faults.log", "ERROR"));

	private final String fault;

	private final Client client;

	private Client rival;

	private Promise promise = Promise.WHOLE;

	private Route route = Route.DIRECT;

	private Supplier<Deployment> redis = Deployment::standalone;

	private FaultRow(String fault, Client client) {
		this.fault = fault;
		this.client = client;
		this.rival = client;
	}

	static FaultRow of(String fault, Client client) {
		return new FaultRow(fault, client);
	}

	/** Promises something else than {@link Promise#WHOLE}. */
	FaultRow promising(Promise promise) {
		this.promise = promise;
		return this;
	}

	/** Has the second member use the other client. */
	FaultRow mixed() {
		this.rival = (this.client == Client.JEDIS) ? Client.LETTUCE : Client.JEDIS;
		return this;
	}

	/** Puts a {@link Relay} between each member and the server. */
	FaultRow relayed() {
		this.route = Route.RELAYED;
		return this;
	}

	/** Runs on something else than one server with the usual settings. */
	FaultRow on(Supplier<Deployment> redis) {
		this.redis = redis;
		return this;
	}

	/**
	 * Runs the trials, writes the row into the table and asserts what it promises.
	 * @param fault what happens in each trial
	 * @throws AssertionError if a promise was broken
	 */
	void run(FaultInjection fault) throws Exception {
		List<String> broken = new ArrayList<>();
		Outcome all = null;
		String remark = FaultTable.BROKEN;
		try {
			for (int i = 0; i < TRIALS; i++) {
				Outcome outcome = tryOut(fault);
				broken.addAll(this.promise.brokenBy(outcome));
				all = (all != null) ? all.and(outcome) : outcome;
			}
			remark = broken.isEmpty() ? this.promise.remark() : remark;
		}
		catch (TestAbortedException ex) {
			remark = FaultTable.NOT_RUN;
			throw ex;
		}
		finally {
			FaultTable.add(this.fault, this.client, all, remark);
		}
		if (!broken.isEmpty()) {
			throw new AssertionError(this.fault + " (" + this.client + "): " + String.join("; ", broken));
		}
	}

	// The engine says in detail what it could not do, which is the point here.
	private Outcome tryOut(FaultInjection fault) throws Exception {
		LoggingSystem logging = LoggingSystem.get(FaultRow.class.getClassLoader());
		logging.setLogLevel(LIBRARY, LOG_LEVEL);
		try (Trial trial = Trial.begin(List.of(this.client, this.rival), this.redis.get(), this.route)) {
			return trial.run(fault);
		}
		finally {
			logging.setLogLevel(LIBRARY, null);
		}
	}

}
