package io.github.distributedlock.test;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.backend.redis.RedisLockSettings;
import io.github.distributedlock.backend.redis.RedisLockSettings.Atomicity;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;

/**
 * A server that allows something, and how locks are kept atomic there.
 *
 * @param name the server's name, for people
 * @param server where it is
 * @param rules what it allows
 * @param setting what the application asks for. Not {@link Atomicity#AUTO} only where no
 * rule can make that choose it
 * @param strategy what has to come of it
 */
public record AtomicityCase(String name, HostAndPort server, AccessRules rules, Atomicity setting, String strategy) {

	private static final Map<String, List<AtomicityCase>> SHARED = new ConcurrentHashMap<>();

	/**
	 * Each strategy on each of the servers to test on, which are started if need be.
	 * @return the cases
	 */
	public static Stream<AtomicityCase> onAllServers() {
		return RedisServers.names().flatMap((name) -> onServer(name).stream());
	}

	/**
	 * Each strategy once, on the first of those servers that has it.
	 * @return the cases
	 */
	public static Stream<AtomicityCase> ofEachStrategy() {
		Map<String, AtomicityCase> first = new LinkedHashMap<>();
		onAllServers().forEach((one) -> first.putIfAbsent(one.strategy(), one));
		return first.values().stream();
	}

	/**
	 * Each strategy that a server has.
	 * @param name the name of a server to test on, which is started if need be
	 * @return the cases
	 */
	public static List<AtomicityCase> onServer(String name) {
		return SHARED.computeIfAbsent(name, (absent) -> {
			RedisServers.Server server = RedisServers.shared(name);
			return on(name, new HostAndPort(server.host(), server.port()));
		});
	}

	/**
	 * Each strategy that a server has, made the best one by denying the better ones.
	 * @param name the server's name, for people
	 * @param server where it is
	 * @return the cases
	 */
	public static List<AtomicityCase> on(String name, HostAndPort server) {
		for (AccessRules rules : AccessRules.values()) {
			rules.grantOn(server);
		}
		List<AtomicityCase> cases = new ArrayList<>();
		try (Jedis admin = new Jedis(server)) {
			KnownCommands commands = new KnownCommands(admin);
			boolean delex = commands.has("delex");
			boolean delifeq = commands.has("delifeq");
			boolean conditionalSet = commands.hasConditionalSet();
			cases.add(new AtomicityCase(name, server, AccessRules.EVERYTHING, Atomicity.AUTO, "lua"));
			if (delex || delifeq) {
				cases.add(new AtomicityCase(name, server, AccessRules.NO_SCRIPTS, Atomicity.AUTO,
						"native (" + (delex ? "DELEX" : "DELIFEQ") + ")"));
			}
			if (conditionalSet) {
				cases.add(new AtomicityCase(name, server, AccessRules.NO_CONDITIONAL_DELETE, Atomicity.AUTO,
						"native (SET IFEQ)"));
			}
			cases.add(new AtomicityCase(name, server, AccessRules.NO_CONDITIONAL_DELETE,
					conditionalSet ? Atomicity.TRANSACTION : Atomicity.AUTO, "transaction"));
			cases
				.add(new AtomicityCase(name, server, AccessRules.NOTHING_ATOMIC, Atomicity.BEST_EFFORT, "best-effort"));
		}
		return cases;
	}

	/**
	 * Which of the settings that is.
	 * @return never {@link Atomicity#AUTO}
	 */
	public Atomicity atomicity() {
		if (this.setting != Atomicity.AUTO) {
			return this.setting;
		}
		return Atomicity.valueOf(this.strategy.replaceAll(" .*", "").toUpperCase(Locale.ROOT));
	}

	/**
	 * Locks there, as an application has them.
	 * @param client the client
	 * @param prefix which locks: only those of one prefix know each other
	 * @return the backend, to be closed
	 */
	public RedisLockBackend backend(Client client, String prefix) {
		return client.backend(this.rules.login(this.server),
				RedisLockSettings.defaults().prefix(prefix).atomicity(this.setting).commandTimeout(Patience.COMMAND));
	}

	@Override
	public String toString() {
		return this.name + ", " + this.strategy;
	}

}
