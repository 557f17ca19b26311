package io.github.distributedlock.backend.redis.atomic;

import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;

import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.redis.connection.SignalLine;
import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.backend.redis.wire.Command.Verb;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.RedisFailures;
import io.github.distributedlock.backend.redis.wire.RedisRefusal;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.connection.RedisConnection;

/**
 * Finds out what a server allows, by trying it on a key that does not exist. Each trial
 * has a connection of its own, since a proxy may close it for a command that it does not
 * know.
 */
final class AtomicityProbe {

	private static final Refused CLOSED = new Refused("no answer, but the connection was closed", false);

	/** So many that a node of several has hardly ever all of them. */
	private static final int SLOTS = 16;

	private final SignalLine connections;

	private final KeyNames names;

	private final String key = "probe-" + UUID.randomUUID();

	private final Map<String, List<String>> refused = new LinkedHashMap<>();

	AtomicityProbe(SignalLine connections, KeyNames names) {
		this.connections = connections;
		this.names = names;
	}

	/**
	 * Finds the first that works.
	 * @param candidates what may be tried, the best first
	 * @return it, or {@code null} if none does
	 * @throws org.springframework.dao.DataAccessException if the server cannot say so now
	 */
	@Nullable AtomicityCandidate firstOf(List<AtomicityCandidate> candidates) {
		for (AtomicityCandidate candidate : candidates) {
			Refused refused = tryOut(candidate);
			if (refused != null && !refused.certain) {
				refused = tryOut(candidate); // Once may be an accident.
			}
			if (refused == null) {
				return candidate;
			}
			note(candidate.description(), refused.answer);
		}
		try {
			requireAnswer();
		}
		catch (RuntimeException ex) {
			if (RedisRefusal.of(ex) != RedisRefusal.NOPERM) {
				throw ex;
			}
			note("get", RedisFailures.lastWord(ex));
		}
		return null;
	}

	private void note(String tried, String answer) {
		this.refused.computeIfAbsent(answer, (first) -> new ArrayList<>()).add(tried);
	}

	/**
	 * What was tried and answered.
	 * @return a line for each answer
	 */
	Stream<String> answers() {
		return this.refused.entrySet()
			.stream()
			.map((refused) -> String.join(", ", refused.getValue()) + ": " + refused.getKey());
	}

	private @Nullable Refused tryOut(AtomicityCandidate candidate) {
		boolean connected = false;
		try (RedisConnection connection = this.connections.open()) {
			connected = true;
			candidate.trial().accept(this.connections.link(connection), this.key);
			return null;
		}
		catch (RuntimeException ex) {
			RedisRefusal refusal = RedisRefusal.of(ex);
			boolean certain = refusal == RedisRefusal.NOPERM || refusal == RedisRefusal.ERR;
			// Some say it in words of their own.
			if (certain || (refusal == null && RedisRefusal.isError(ex))) {
				// What some servers add to it is only what was sent.
				String answer = RedisFailures.lastWord(ex).replaceFirst("(?s), with args beginning with.*", "");
				return new Refused(answer, certain);
			}
			if (refusal != null || !connected || isTimeout(ex)) {
				throw ex;
			}
			// Closed for that command, if it is not closed for any.
			requireAnswer();
			return CLOSED;
		}
	}

	private void requireAnswer() {
		get(this.names.lock(this.key));
	}

	private void get(byte[] name) {
		try (RedisConnection connection = this.connections.open()) {
			this.connections.link(connection).call(Command.of(Verb.GET, name));
		}
	}

	private static boolean isTimeout(Throwable failure) {
		for (Throwable cause : LockException.causes(failure)) {
			if (cause instanceof QueryTimeoutException || cause instanceof SocketTimeoutException) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Finds a key of locks that the user may not access.
	 * @return its name and what the server said, or {@code null} if there is none
	 */
	@Nullable String deniedKey() {
		for (byte[] name : List.of(this.names.lock(this.key), this.names.waiters(this.key),
				this.names.liveness(this.key), this.names.fence(this.key))) {
			try {
				get(name);
			}
			catch (RuntimeException ex) {
				if (RedisRefusal.isKeyDenied(ex)) {
					return "'" + KeyNames.text(name) + "': " + RedisFailures.lastWord(ex);
				}
			}
		}
		return null;
	}

	/**
	 * Asks a node of a cluster for keys of many slots.
	 * @throws org.springframework.dao.DataAccessException if another has one of them
	 */
	void requireAllSlots() {
		if (!"cluster".equals(valueOf("redis_mode", info()))) {
			return;
		}
		for (int i = 0; i < SLOTS; i++) {
			try {
				get(this.names.lock(this.key + i));
			}
			catch (RuntimeException ex) {
				if (RedisRefusal.MOVED.isIn(ex)) { // Whatever else it says may pass.
					throw ex;
				}
			}
		}
	}

	/**
	 * Which server it is.
	 * @return its name and version, where it says so
	 */
	String server() {
		byte[] info = info();
		if (info == null) {
			return "Redis (of unknown version)";
		}
		String valkey = valueOf("valkey_version", info);
		return (valkey != null) ? "Valkey " + valkey : "Redis " + valueOf("redis_version", info);
	}

	private byte @Nullable [] info() {
		try (RedisConnection connection = this.connections.open()) {
			return this.connections.link(connection)
				.bytes(Command.at(this.names.lock(this.key), Verb.INFO, KeyNames.bytes("server")));
		}
		catch (RuntimeException ex) {
			return null;
		}
	}

	private static @Nullable String valueOf(String name, byte @Nullable [] info) {
		return (info == null) ? null
				: KeyNames.text(info)
					.lines()
					.filter((line) -> line.startsWith(name + ":"))
					.map((line) -> line.substring(name.length() + 1))
					.findFirst()
					.orElse(null);
	}

	private record Refused(String answer, boolean certain) {
	}

}
