package io.github.distributedlock.backend.jdbc;

import java.sql.Connection;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;

import io.github.distributedlock.LockBackendException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sessions of the server whose connections were closed here while a statement might
 * still be carried out. The server is asked to end these sessions. If several sessions
 * with hanging statements are left, no further connection is borrowed: each connection
 * could leave one more session behind. Safe for use by many threads.
 */
final class Strays {

	private static final Logger logger = LoggerFactory.getLogger(Strays.class);

	private static final int MOST = 3;

	/**
	 * The sessions, by the mark of the session's statements. The value is {@code true} if
	 * the statement hangs.
	 */
	private final Map<String, Boolean> known = new ConcurrentHashMap<>();

	private final String store = UUID.randomUUID().toString().substring(0, 8);

	private final AtomicLong connections = new AtomicLong();

	/**
	 * The marks, by the connections of the driver, which a pool lends again and again.
	 * Connections do not define equality.
	 */
	private final Map<Object, String> tags = Collections.synchronizedMap(new WeakHashMap<>());

	private final Probes probes;

	private final UnaryOperator<Set<String>> server;

	/**
	 * Creates the list of strays, which is empty.
	 * @param timeout how long one command may take
	 * @param server ends the sessions with these marks at the server, and returns the
	 * marks of the sessions that are left
	 */
	Strays(Duration timeout, UnaryOperator<Set<String>> server) {
		this.probes = new Probes(timeout);
		this.server = server;
	}

	/**
	 * Returns a comment that marks the statements of a connection at the server. A
	 * connection keeps its mark, so that the driver can reuse prepared statements.
	 */
	String tag(Connection connection) {
		return this.tags.computeIfAbsent(Destination.physical(connection),
				(each) -> "/* lock " + this.store + "x" + this.connections.incrementAndGet() + " */ ");
	}

	void add(String tag, boolean hangs) {
		this.known.merge(tag, hangs, Boolean::logicalOr);
	}

	/**
	 * Asks the server to end the sessions, rarely while the server does not answer.
	 * @throws LockBackendException if too many sessions hang
	 */
	void end() {
		if (!this.known.isEmpty() && this.probes.tryBegin()) {
			boolean answered = false;
			try {
				ask();
				answered = true;
			}
			catch (LockBackendException ex) {
				// A question that got no connection has left no session behind, so the
				// next question may come at once: the server may be back.
				answered = ex.isWithoutEffect();
				logger.debug("The server does not tell which sessions hang", ex);
			}
			finally {
				this.probes.end(answered);
			}
		}
		long hanging = this.known.values().stream().filter((hangs) -> hangs).count();
		if (hanging >= MOST) {
			throw left("No connection for locks could be had: The server", hanging);
		}
	}

	/**
	 * Asks the server to end the sessions.
	 * @throws LockBackendException unless all sessions have ended
	 */
	void endAll() {
		if (!this.known.isEmpty()) {
			ask();
			if (!this.known.isEmpty()) {
				throw left("What a statement has done is not known: The server", this.known.size());
			}
		}
	}

	private static LockBackendException left(String problem, long sessions) {
		return LockBackendException.of(problem + " has not ended " + sessions + " sessions whose statements hang")
			.remedy("find out what they wait for, such as a disk or a replica")
			.retryable(true)
			.withoutEffect(true)
			.build();
	}

	private void ask() {
		Set<String> asked = Set.copyOf(this.known.keySet());
		Set<String> left = this.server.apply(asked);
		this.known.keySet().removeIf((each) -> asked.contains(each) && !left.contains(each));
	}

}
