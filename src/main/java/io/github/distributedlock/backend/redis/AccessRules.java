package io.github.distributedlock.backend.redis;

import java.util.Locale;

import io.github.distributedlock.backend.redis.connection.KeyNames;

/**
 * What the user of the connection has to be allowed on a server that allows it nothing
 * else, and what to do if it is not.
 */
final class AccessRules {

	static final String NEW_LINE = System.lineSeparator() + "    ";

	private static final String EACH = "+set +get +del +pttl +pexpire +zadd +zrem +zrange +time";

	/** Without these, locks are reserved for those that wait, and not granted. */
	static final String GRANTS = " +hget +hset +hdel +hgetall";

	/** Without these, waiters poll. */
	private static final String SIGNALS = " +publish +subscribe +ping";

	private AccessRules() {
	}

	/**
	 * The commands that a way needs, whatever is done with locks, as in a rule.
	 */
	static String commands(Atomicity atomicity) {
		return required(atomicity) + ((atomicity == Atomicity.LUA) ? GRANTS : "") + SIGNALS;
	}

	/**
	 * Those of them without which a way is not used: a store's trial sends each.
	 */
	static String required(Atomicity atomicity) {
		return EACH + switch (atomicity) {
			case LUA -> " +zscore +zremrangebyscore +eval +evalsha";
			case NATIVE -> " +delex"; // Valkey 9: +delifeq
			case TRANSACTION -> " +watch +unwatch +multi +exec";
			case AUTO, BEST_EFFORT -> "";
		};
	}

	/**
	 * A setting as it is written in a configuration.
	 */
	static String text(Atomicity atomicity) {
		return atomicity.name().toLowerCase(Locale.ROOT).replace('_', '-');
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
	 * @param more what the user needs besides, whichever way is used
	 * @param cluster whether there may be several masters
	 */
	static String waysOut(Atomicity wanted, KeyNames names, String more, boolean cluster) {
		String end = NEW_LINE + "on the keys ~" + names.pattern() + " and the channels &" + names.channels() + "*"
				+ System.lineSeparator();
		if (wanted != Atomicity.AUTO) {
			return "Either allow it to the user of the connection, where the server has it:" + rule(wanted, more) + end
					+ "Or remove distributed-lock.redis.atomicity=" + text(wanted)
					+ ", so that another way is used if the server allows one.";
		}
		String newer = "a server that compares by itself, as Redis 8.4 and Valkey 8.1 do";
		if (cluster) {
			return "Either allow scripts to the user of the connection:" + rule(Atomicity.LUA, more) + end + "Or use "
					+ newer + ".";
		}
		return "Either allow one of these to the user of the connection, or use " + newer + ":"
				+ rule(Atomicity.TRANSACTION, more) + rule(Atomicity.LUA, more) + end
				+ "Or do without: with distributed-lock.redis.atomicity=best-effort a command that comes late can take"
				+ " away the lock of another owner.";
	}

	private static String rule(Atomicity atomicity, String more) {
		return NEW_LINE + text(atomicity) + ": ACL SETUSER <user> " + (commands(atomicity) + " " + more).strip();
	}

}
