package io.github.distributedlock.backend.redis;

import java.util.List;
import java.util.stream.Collectors;

import io.github.distributedlock.backend.redis.connection.KeyNames;

/**
 * What the user of the connection has to be allowed on a server that allows it nothing
 * else, and what to do if it is not.
 */
final class AccessRules {

	static final String NEW_LINE = System.lineSeparator() + "    ";

	private AccessRules() {
	}

	/**
	 * What to do where the user may use other keys.
	 */
	static String otherKeys(KeyNames names) {
		return "Either allow it the keys and channels of locks:" + NEW_LINE + "ACL SETUSER <user> ~" + names.pattern()
				+ " &" + names.channels() + "*" + System.lineSeparator()
				+ "Or set distributed-lock.redis.prefix to a prefix of keys that it may use.";
	}

	/**
	 * What to do where a server allows nothing.
	 * @param wanted the setting that nothing was found for
	 * @param possible the ways that may be used there
	 * @param more what the user needs besides, whichever way is used
	 */
	static String waysOut(Atomicity wanted, List<Atomicity> possible, KeyNames names, String more) {
		String end = NEW_LINE + "on the keys ~" + names.pattern() + " and the channels &" + names.channels() + "*"
				+ System.lineSeparator();
		if (wanted != Atomicity.AUTO) {
			return "Either allow it to the user of the connection, where the server has it:" + rule(wanted, more) + end
					+ "Or remove distributed-lock.redis.atomicity=" + wanted.text()
					+ ", so that another way is used if the server allows one.";
		}
		return "Either allow one of these to the user of the connection:"
				+ possible.stream()
					.filter(Atomicity::isEverywhere)
					.map((way) -> rule(way, more))
					.collect(Collectors.joining())
				+ end + "Or use a server that compares by itself, as Redis 8.4 and Valkey 8.1 do."
				+ possible.stream()
					.filter((way) -> way.risk() != null)
					.map((way) -> System.lineSeparator() + "Or do without: with distributed-lock.redis.atomicity="
							+ way.text() + " " + way.risk() + ".")
					.collect(Collectors.joining());
	}

	private static String rule(Atomicity atomicity, String more) {
		return NEW_LINE + atomicity.text() + ": ACL SETUSER <user> " + (atomicity.commands() + " " + more).strip();
	}

}
