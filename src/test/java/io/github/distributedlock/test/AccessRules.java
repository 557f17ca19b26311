package io.github.distributedlock.test;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

/**
 * What a server's access list allows its user of that name to send: everything, less and
 * less.
 */
public enum AccessRules {

	/** Everything. */
	EVERYTHING,

	/** No scripts. */
	NO_SCRIPTS("eval", "evalsha", "script"),

	/** No scripts, and no command that deletes a key if it has a certain value. */
	NO_CONDITIONAL_DELETE("eval", "evalsha", "script", "delex", "delifeq"),

	/** No scripts, and no transactions. */
	NO_TRANSACTIONS("eval", "evalsha", "script", "multi", "exec", "watch"),

	/**
	 * Nothing that makes several commands one, or compares. {@code SET … IFEQ} cannot be
	 * denied where {@code SET} is allowed.
	 */
	NOTHING_ATOMIC("eval", "evalsha", "script", "delex", "delifeq", "multi", "exec", "watch");

	private static final String PASSWORD = "secret";

	private final List<String> denied;

	AccessRules(String... denied) {
		this.denied = List.of(denied);
	}

	/**
	 * Makes the user, or makes it anew.
	 * @param server where
	 */
	public void grantOn(HostAndPort server) {
		try (Jedis admin = new Jedis(server)) {
			KnownCommands commands = new KnownCommands(admin);
			List<String> rules = new ArrayList<>(List.of("reset", "on", ">" + PASSWORD, "~*", "&*", "+@all"));
			this.denied.stream().filter(commands::has).forEach((command) -> rules.add("-" + command));
			admin.aclSetUser(user(), rules.toArray(String[]::new));
		}
	}

	/**
	 * How an application logs in as that user.
	 * @param server where
	 * @return its settings
	 */
	public RedisStandaloneConfiguration login(HostAndPort server) {
		RedisStandaloneConfiguration login = new RedisStandaloneConfiguration(server.getHost(), server.getPort());
		login.setUsername(user());
		login.setPassword(PASSWORD);
		return login;
	}

	private String user() {
		return "locks-" + name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
