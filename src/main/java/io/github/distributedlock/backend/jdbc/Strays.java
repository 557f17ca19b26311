package io.github.distributedlock.backend.jdbc;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.jdbc.Session.StrayStatementException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sessions of the server whose connections were closed here while a statement hung
 * that the server did not cancel. As long as the server has not ended some of them, no
 * other connection is borrowed: each could take one more of its sessions. Safe for use by
 * many threads.
 */
final class Strays {

	private static final Logger logger = LoggerFactory.getLogger(Strays.class);

	private static final int MOST = 3;

	private final Set<Long> known = ConcurrentHashMap.newKeySet();

	private final Probes probes;

	private final UnaryOperator<Set<Long>> server;

	/**
	 * Creates it.
	 * @param timeout how long one command may take
	 * @param server ends these sessions at the server, and returns those that are left
	 */
	Strays(Duration timeout, UnaryOperator<Set<Long>> server) {
		this.probes = new Probes(timeout);
		this.server = server;
	}

	void add(Throwable failure) {
		if (failure instanceof StrayStatementException stray) {
			this.known.add(stray.session);
		}
	}

	/**
	 * Asks the server to end the sessions.
	 * @throws LockBackendException if too many are left
	 */
	void end() {
		if (!this.known.isEmpty() && this.probes.tryBegin()) {
			boolean answered = false;
			try {
				answered = ask();
			}
			finally {
				this.probes.end(answered);
			}
		}
		int left = this.known.size();
		if (left >= MOST) {
			throw LockBackendException
				.of("No connection for locks could be had: The server has not ended " + left
						+ " sessions whose statements hang")
				.remedy("find out what they wait for, such as a disk or a replica")
				.retryable(true)
				.notCarriedOut(true)
				.build();
		}
	}

	private boolean ask() {
		Set<Long> asked = Set.copyOf(this.known);
		try {
			Set<Long> left = this.server.apply(asked);
			this.known.removeIf((each) -> asked.contains(each) && !left.contains(each));
			return true;
		}
		catch (LockBackendException ex) {
			logger.debug("The server does not tell which sessions hang", ex);
			return false;
		}
	}

}
