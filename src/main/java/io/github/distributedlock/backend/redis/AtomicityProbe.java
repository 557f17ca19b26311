package io.github.distributedlock.backend.redis;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.backend.redis.internal.Command;
import io.github.distributedlock.backend.redis.internal.Command.Verb;
import io.github.distributedlock.backend.redis.internal.Link;
import io.github.distributedlock.backend.redis.internal.OwnConnections;
import io.github.distributedlock.backend.redis.internal.RedisFailures;
import io.github.distributedlock.backend.redis.internal.RedisRefusal;
import io.github.distributedlock.backend.redis.internal.SignalConnector.SignalConnection;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out which ways a server allows, by trying each way on a key that does not exist,
 * and says what to do if the server allows none. Each trial has a connection of its own,
 * since a proxy may close the connection on an unknown command.
 */
final class AtomicityProbe {

	private static final Logger logger = LoggerFactory.getLogger(AtomicityProbe.class);

	/**
	 * How many keys are looked at. One node of a cluster with several nodes hardly ever
	 * has the slots of all these keys.
	 */
	private static final int SLOTS = 16;

	private static final String LINE = System.lineSeparator();

	private static final String INDENTED = LINE + "    ";

	private static final Pattern REDIS_VERSION = Pattern.compile("Redis (\\d{1,4})\\.(\\d{1,4})\\.");

	private final OwnConnections connections;

	private final RedisLockSettings settings;

	private final KeyNames names;

	private final String key = "probe-" + UUID.randomUUID();

	/** The ways that the server refused, by the server's answer. */
	private final Map<String, List<String>> refused = new LinkedHashMap<>();

	AtomicityProbe(OwnConnections connections, RedisLockSettings settings) {
		this.connections = connections;
		this.settings = settings;
		this.names = new KeyNames(settings.prefix());
	}

	/**
	 * Finds the first way that works.
	 * @param ways the ways to try, the best first
	 * @return the steps that work
	 * @throws org.springframework.dao.NonTransientDataAccessResourceException if no way
	 * works, or if a client for one server talks to a node of a cluster that has other
	 * nodes, to which such a client cannot follow
	 * @throws org.springframework.dao.DataAccessException if the server cannot answer now
	 */
	Steps firstOf(Stream<Steps> ways) {
		try {
			return ways.filter((steps) -> works(steps, 2)).findFirst().orElseThrow(this::nothing);
		}
		catch (RuntimeException ex) {
			if (!RedisRefusal.MOVED.isIn(ex) || this.connections.cluster()) {
				throw ex;
			}
			throw RedisFailures.nothingAllowed(
					"the server has only some of the slots of a cluster: " + RedisFailures.deepestMessage(ex),
					"set spring.data.redis.cluster.nodes instead of spring.data.redis.host");
		}
	}

	private boolean works(Steps steps, int attempts) {
		AtomicBoolean connected = new AtomicBoolean();
		try {
			run((link) -> {
				connected.set(true);
				steps.probe(link, this.key);
				for (int i = 0; i < SLOTS && !this.connections.cluster(); i++) {
					// With a client for one server, another node may have this key.
					Values.get(link, this.names.lock(this.key + i));
				}
				if (this.connections.cluster()) {
					requireAsking(link);
				}
				if (waits()) { // WAIT for 0 replicas is answered at once.
					link.call(Command.at(this.names.lock(this.key), Verb.WAIT, 0, 1));
				}
				return null;
			});
			return true;
		}
		catch (RuntimeException ex) {
			RedisRefusal refusal = RedisRefusal.of(ex);
			boolean certain = refusal == RedisRefusal.NOPERM || refusal == RedisRefusal.ERR;
			// Some servers refuse in words of their own.
			boolean answered = certain || (refusal == null && RedisRefusal.isError(ex));
			if (!answered) {
				if (refusal != null || !connected.get() || RedisFailures.isTimeout(ex)) {
					throw ex;
				}
				// If a plain command works, the connection was closed because of the
				// step.
				run((link) -> Values.get(link, this.names.lock(this.key)));
			}
			if (!certain && attempts > 1) {
				return works(steps, attempts - 1); // A single refusal may be an accident.
			}
			// Some servers repeat the arguments in the answer.
			String answer = answered
					? RedisFailures.deepestMessage(ex).replaceFirst("(?s), with args beginning with.*", "")
					: "no answer, but the connection was closed";
			this.refused.computeIfAbsent(answer, (first) -> new ArrayList<>()).add(steps.description());
			return false;
		}
	}

	// While a slot moves, long after the start, a redirection needs ASKING. Only a
	// missing right counts as a refusal here: a server that cannot move slots may not
	// know ASKING. The GET after ASKING ends the effect of ASKING on the connection.
	private void requireAsking(Link link) {
		byte[] key = this.names.lock(this.key);
		Object reply = link.exchange(Command.at(key, Verb.ASKING).with(Command.of(Verb.GET, key)));
		if (reply instanceof RuntimeException refusal && RedisRefusal.NOPERM.isIn(refusal)) {
			throw refusal;
		}
	}

	private boolean waits() {
		return this.settings.replicasToAck() > 0;
	}

	private <T> @Nullable T run(Function<Link, @Nullable T> question) {
		try (SignalConnection connection = this.connections.signals().openForCommands()) {
			return question.apply(connection.link());
		}
	}

	/**
	 * Returns the name and the version of the server, as far as the server tells them.
	 */
	String server() {
		String info = "";
		try {
			byte[] reply = run((link) -> link.bytes(Command.at(this.names.lock(this.key), Verb.INFO, "server")));
			info = (reply != null) ? KeyNames.text(reply) : info;
		}
		catch (RuntimeException ex) {
			logger.debug("The server does not say its version", ex);
		}
		boolean valkey = info.contains("valkey_version:");
		String[] parts = info.split(valkey ? "valkey_version:" : "redis_version:", 2);
		return (valkey ? "Valkey " : "Redis ")
				+ ((parts.length > 1) ? parts[1].lines().findFirst().orElse("") : "(of unknown version)");
	}

	private RuntimeException nothing() {
		String answers = this.refused.entrySet()
			.stream()
			.map((refused) -> INDENTED + String.join(", ", refused.getValue()) + ": " + refused.getKey())
			.collect(Collectors.joining());
		String server = server();
		return RedisFailures.nothingAllowed(
				server + " offers no atomic compare-and-change operation on the keys of locks, such as '"
						+ KeyNames.text(this.names.lock(this.key))
						+ "', and without one no lock is safe. Tried, and answered:" + answers,
				isTooOld(server) ? "use Redis 6.2 or newer, or Valkey" : remedy());
	}

	/**
	 * Returns whether a server is older than all supported versions, so that no further
	 * right would help.
	 * @param server the name and version of the server
	 */
	static boolean isTooOld(String server) {
		Matcher version = REDIS_VERSION.matcher(server);
		if (!version.lookingAt()) {
			return false;
		}
		int major = Integer.parseInt(version.group(1));
		return major < 6 || (major == 6 && Integer.parseInt(version.group(2)) < 2);
	}

	private String remedy() {
		Atomicity wanted = this.settings.atomicity();
		List<Atomicity> ways = Atomicity.possible(this.connections.cluster()).toList();
		String rules = ways.stream()
			.filter((way) -> (wanted != Atomicity.AUTO) ? way == wanted : way.isEverywhere())
			.map(this::rule)
			.collect(Collectors.joining());
		String risks = ways.stream()
			.filter((way) -> way.risk() != null)
			.map((way) -> LINE + "Or do without: with distributed-lock.redis.atomicity=" + way.text() + " " + way.risk()
					+ ".")
			.collect(Collectors.joining());
		return "Either allow one of these to the user of the connection, where the server has it:" + rules + LINE
				+ "Or set distributed-lock.redis.prefix to a prefix of keys that it may use." + LINE
				+ ((wanted != Atomicity.AUTO)
						? "Or remove distributed-lock.redis.atomicity=" + wanted.text()
								+ ", so that another way is used if the server allows one."
						: "Or use a server that compares by itself, as Redis 8.4 and Valkey 8.1 do." + risks);
	}

	private String rule(Atomicity way) {
		String more = this.connections.rights() + (waits() ? " +wait" : "");
		return INDENTED + way.text() + ": ACL SETUSER <user> ~" + this.names.pattern() + " &" + this.names.channels()
				+ "* " + (way.commands() + " " + more.strip()).strip();
	}

}
