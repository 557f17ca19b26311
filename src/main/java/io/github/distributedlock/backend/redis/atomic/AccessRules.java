package io.github.distributedlock.backend.redis.atomic;

import io.github.distributedlock.backend.redis.wire.KeyNames;

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
	private static final String SIGNALS = " +publish +subscribe +unsubscribe +ping";

	private final KeyNames names;

	private final String more;

	/**
	 * Creates the rules.
	 * @param names the names in Redis
	 * @param more what the user needs besides, whichever way is used
	 */
	AccessRules(KeyNames names, String more) {
		this.names = names;
		this.more = more.isEmpty() ? "" : " " + more;
	}

	/**
	 * The commands that a way needs, whatever is done with locks.
	 * @param atomicity the way
	 * @return as in a rule
	 */
	static String commands(Atomicity atomicity) {
		return required(atomicity) + ((atomicity == Atomicity.LUA) ? GRANTS : "") + SIGNALS;
	}

	/**
	 * Those of them without which a way is not used: a candidate's trial sends each.
	 * @param atomicity the way
	 * @return as in a rule
	 */
	static String required(Atomicity atomicity) {
		return EACH + switch (atomicity) {
			case LUA -> " +zscore +zremrangebyscore +eval +evalsha";
			case NATIVE -> " +delex"; // Valkey 9: +delifeq
			case TRANSACTION -> " +watch +unwatch +multi +exec";
			case AUTO, BEST_EFFORT -> "";
		};
	}

	private String rule(Atomicity atomicity) {
		return NEW_LINE + AtomicityCandidates.text(atomicity) + ": ACL SETUSER <user> " + commands(atomicity)
				+ this.more;
	}

	/**
	 * What to do where the user may use other keys.
	 * @return the ways out
	 */
	String otherKeys() {
		return "Either allow it the keys and channels of locks:" + NEW_LINE + "ACL SETUSER <user> ~"
				+ this.names.pattern() + " &" + this.names.channels() + "*" + System.lineSeparator()
				+ "Or set distributed-lock.redis.prefix to a prefix of keys that it may use.";
	}

	/**
	 * What to do where a server allows nothing.
	 * @param wanted the setting that nothing was found for
	 * @param cluster whether there may be several masters
	 * @return the ways out
	 */
	String waysOut(Atomicity wanted, boolean cluster) {
		String end = NEW_LINE + "on the keys ~" + this.names.pattern() + " and the channels &" + this.names.channels()
				+ "*" + System.lineSeparator();
		if (wanted != Atomicity.AUTO) {
			return "Either allow it to the user of the connection, where the server has it:" + rule(wanted) + end
					+ "Or remove distributed-lock.redis.atomicity=" + AtomicityCandidates.text(wanted)
					+ ", so that another way is used if the server allows one.";
		}
		String newer = "a server that compares by itself, as Redis 8.4 and Valkey 8.1 do";
		if (cluster) {
			return "Either allow scripts to the user of the connection:" + rule(Atomicity.LUA) + end + "Or use " + newer
					+ ".";
		}
		return "Either allow one of these to the user of the connection, or use " + newer + ":"
				+ rule(Atomicity.TRANSACTION) + rule(Atomicity.LUA) + end
				+ "Or do without: with distributed-lock.redis.atomicity=best-effort a command that comes late can take"
				+ " away the lock of another owner.";
	}

}
