package io.github.distributedlock.backend.redis;

import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.redis.connection.Command;
import io.github.distributedlock.backend.redis.connection.Command.Verb;
import io.github.distributedlock.backend.redis.connection.KeyNames;
import io.github.distributedlock.backend.redis.connection.Link;
import io.github.distributedlock.backend.redis.connection.RedisFailures;
import io.github.distributedlock.backend.redis.connection.RedisRefusal;
import io.github.distributedlock.backend.redis.connection.SignalLine;
import io.github.distributedlock.backend.redis.connection.SignalLine.SignalConnection;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.QueryTimeoutException;

/**
 * Finds out what a server allows, by trying it on a key that does not exist. Each trial
 * has a connection of its own, since a proxy may close it for a command that it does not
 * know.
 */
final class AtomicityProbe {

	/** So many that a node of several has hardly ever all of them. */
	private static final int SLOTS = 16;

	private final SignalLine connections;

	private final KeyNames names;

	private final boolean asksReplicas;

	private final String key = "probe-" + UUID.randomUUID();

	/** What was tried, by answer. */
	private final Map<String, List<String>> refused = new LinkedHashMap<>();

	AtomicityProbe(SignalLine connections, KeyNames names, boolean asksReplicas) {
		this.connections = connections;
		this.names = names;
		this.asksReplicas = asksReplicas;
	}

	/**
	 * Finds the first that works.
	 * @param stores what may be tried, the best first
	 * @return it, or {@code null} if none does
	 * @throws org.springframework.dao.DataAccessException if the server cannot say so now
	 */
	@Nullable Store firstOf(Stream<Store> stores) {
		Store found = stores.filter(this::works).findFirst().orElse(null);
		if (found == null) {
			try {
				get(this.names.lock(this.key));
			}
			catch (RuntimeException ex) {
				if (RedisRefusal.of(ex) != RedisRefusal.NOPERM) {
					throw ex;
				}
				note("get", RedisFailures.lastWord(ex));
			}
		}
		return found;
	}

	private void note(String tried, String answer) {
		this.refused.computeIfAbsent(answer, (first) -> new ArrayList<>()).add(tried);
	}

	/**
	 * What was tried and answered: a line for each answer.
	 */
	String answers() {
		return this.refused.entrySet()
			.stream()
			.map((refused) -> AccessRules.NEW_LINE + String.join(", ", refused.getValue()) + ": " + refused.getKey())
			.collect(Collectors.joining());
	}

	private boolean works(Store store) {
		return works(store, 2);
	}

	private boolean works(Store store, int attempts) {
		AtomicBoolean connected = new AtomicBoolean();
		try {
			ask((link) -> {
				connected.set(true);
				store.tryOut(link, this.key);
				if (this.asksReplicas) { // For none, which is answered at once.
					link.call(Command.at(this.names.lock(this.key), Verb.WAIT, 0, 1));
				}
				return null;
			});
			return true;
		}
		catch (RuntimeException ex) {
			RedisRefusal refusal = RedisRefusal.of(ex);
			boolean certain = refusal == RedisRefusal.NOPERM || refusal == RedisRefusal.ERR;
			// Some say it in words of their own.
			boolean answered = certain || (refusal == null && RedisRefusal.isError(ex));
			if (!answered) {
				if (refusal != null || !connected.get() || isTimeout(ex)) {
					throw ex;
				}
				// Closed for that command, if it is not closed for any.
				get(this.names.lock(this.key));
			}
			if (!certain && attempts > 1) {
				return works(store, attempts - 1); // Once may be an accident.
			}
			// What some servers add to it is only what was sent.
			note(store.description(),
					answered ? RedisFailures.lastWord(ex).replaceFirst("(?s), with args beginning with.*", "")
							: "no answer, but the connection was closed");
			return false;
		}
	}

	private static boolean isTimeout(Throwable failure) {
		return LockException.causes(failure)
			.stream()
			.anyMatch((cause) -> cause instanceof QueryTimeoutException || cause instanceof SocketTimeoutException);
	}

	private void get(byte[] name) {
		ask((link) -> Values.get(link, name));
	}

	private <T> @Nullable T ask(Function<Link, @Nullable T> question) {
		try (SignalConnection connection = this.connections.open()) {
			return question.apply(connection.link());
		}
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
		boolean cluster = "cluster".equals(info().get("redis_mode"));
		for (int i = 0; i < SLOTS && cluster; i++) {
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
	 * Which server it is: its name and version, where it says so.
	 */
	String server() {
		Map<String, String> info = info();
		String valkey = info.get("valkey_version");
		return (valkey != null) ? "Valkey " + valkey
				: "Redis " + info.getOrDefault("redis_version", "(of unknown version)");
	}

	private Map<String, String> info() {
		try {
			byte[] info = ask((link) -> link.bytes(Command.at(this.names.lock(this.key), Verb.INFO, "server")));
			return ((info != null) ? KeyNames.text(info) : "").lines()
				.map((line) -> line.split(":", 2))
				.filter((field) -> field.length == 2)
				.collect(Collectors.toMap((field) -> field[0], (field) -> field[1], (first, second) -> first));
		}
		catch (RuntimeException ex) {
			return Map.of();
		}
	}

}
