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

import io.github.distributedlock.backend.redis.connection.Command;
import io.github.distributedlock.backend.redis.connection.Command.Verb;
import io.github.distributedlock.backend.redis.connection.KeyNames;
import io.github.distributedlock.backend.redis.connection.Link;
import io.github.distributedlock.backend.redis.connection.OwnConnections;
import io.github.distributedlock.backend.redis.connection.RedisFailures;
import io.github.distributedlock.backend.redis.connection.RedisRefusal;
import io.github.distributedlock.backend.redis.connection.SignalConnector.SignalConnection;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out what a server allows, by trying it on a key that does not exist, and says
 * what to do if it allows nothing. Each trial has a connection of its own, since a proxy
 * may close it for a command that it does not know.
 */
final class AtomicityProbe {

	private static final Logger logger = LoggerFactory.getLogger(AtomicityProbe.class);

	/** So many that a node of several has hardly ever all of them. */
	private static final int SLOTS = 16;

	private static final String LINE = System.lineSeparator();

	private static final String INDENTED = LINE + "    ";

	private static final Pattern REDIS_VERSION = Pattern.compile("Redis (\\d{1,4})\\.(\\d{1,4})\\.");

	private final OwnConnections connections;

	private final RedisLockSettings settings;

	private final KeyNames names;

	private final String key = "probe-" + UUID.randomUUID();

	/** What was tried, by answer. */
	private final Map<String, List<String>> refused = new LinkedHashMap<>();

	AtomicityProbe(OwnConnections connections, RedisLockSettings settings) {
		this.connections = connections;
		this.settings = settings;
		this.names = new KeyNames(settings.prefix());
	}

	/**
	 * Finds the first that works.
	 * @param ways what may be tried, the best first
	 * @return it
	 * @throws RedisFailures.NothingAllowed if none does, or a client of one server asks a
	 * node of a cluster that has other nodes, to which it cannot follow
	 * @throws org.springframework.dao.DataAccessException if the server cannot say so now
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
					// Of a client of one server another node may have it.
					Values.get(link, this.names.lock(this.key + i));
				}
				if (this.connections.cluster()) {
					requireAsking(link);
				}
				if (waits()) { // For none, which is answered at once.
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
				if (refusal != null || !connected.get() || RedisFailures.isTimeout(ex)) {
					throw ex;
				}
				// Closed for that command, if it is not closed for any.
				run((link) -> Values.get(link, this.names.lock(this.key)));
			}
			if (!certain && attempts > 1) {
				return works(steps, attempts - 1); // Once may be an accident.
			}
			// What some servers add to it is only what was sent.
			String answer = answered
					? RedisFailures.deepestMessage(ex).replaceFirst("(?s), with args beginning with.*", "")
					: "no answer, but the connection was closed";
			this.refused.computeIfAbsent(answer, (first) -> new ArrayList<>()).add(steps.description());
			return false;
		}
	}

	// A redirection while a slot moves takes ASKING, long after the start. Only a missing
	// right counts: what cannot move slots may not know the command. The command after it
	// takes its effect off the connection.
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
	 * Which server it is: its name and version, where it says so.
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
	 * Whether a server is older than all that are supported: no right that is granted
	 * there would help.
	 * @param server its name and version
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
