package io.github.distributedlock.backend.redis;

import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * What a server says when it refuses a command, and what to do about it.
 */
enum RedisRefusal {

	WRONGTYPE(false,
			"the Redis key holds something else than a lock: remove or rename it, or choose another key prefix"),
	NOPERM(false, "allow the user of the connection the commands, keys and channels of the locks (ACL SETUSER)"),
	NOAUTH(false, "set the user name and password of the Redis connection"),
	WRONGPASS(false, "correct the user name and password of the Redis connection"),
	DENIED(false, "the server runs in protected mode: set a password or its bind address"),
	CROSSSLOT(false, "the names of a lock have to be in one slot"),
	LOADING(true, "the server is loading its data: wait for it"),
	BUSY(true, "a script blocks the server: find and end it (SCRIPT KILL)"),
	READONLY(true, "the node is a replica: connect to the master, or wait for the failover to end"),
	MASTERDOWN(true, "the node has lost its master: connect to the master, or wait for the failover to end"),
	CLUSTERDOWN(true, "the cluster does not serve this slot: check its nodes"),
	TRYAGAIN(true, "the slot is moving to another node: wait for it"),
	NOREPLICAS(true, "the server writes only with enough replicas (min-replicas-to-write): check them"),
	MISCONF(true, "the server cannot save to its disk and refuses writes: check its disk"),
	OOM(true, "the server is at its memory limit: raise maxmemory or remove data"),
	EXECABORT(true,
			"a command of the transaction was refused: check whether the server is at its memory limit, and what its user may do"),

	/** Any other answer that is an error. */
	ERR(false, "see what the server says");

	// Older servers wrap the error of a command in a script, and say this without a code.
	private static final Pattern DENIED_IN_SCRIPT = Pattern
		.compile("[^'\"]*(?:can't run this command|ACL failure in script)");

	private static final Pattern TOO_MANY = Pattern.compile("ERR max number of clients");

	// A message begins with its code. Older servers put that of a command in a script
	// further back, after the place in the script; never after a name, which is quoted
	// and may look like a code.
	private final Pattern code = Pattern.compile((name().equals("ERR") ? "" : "(?:[^'\"]*: )?") + "-?" + name() + " ");

	private final boolean passing;

	private final String remedy;

	RedisRefusal(boolean passing, String remedy) {
		this.passing = passing;
		this.remedy = remedy;
	}

	/**
	 * Whether the same command may be accepted a little later.
	 * @return {@code false} for a refusal that stays
	 */
	boolean passes() {
		return this.passing;
	}

	String remedy() {
		return this.remedy;
	}

	boolean isIn(Throwable failure) {
		return matches(failure, this.code);
	}

	/**
	 * Finds what the server refused with.
	 * @param failure the client's exception
	 * @return the refusal, or {@code null} if no server said anything
	 */
	static @Nullable RedisRefusal of(Throwable failure) {
		if (matches(failure, DENIED_IN_SCRIPT)) {
			return NOPERM;
		}
		for (RedisRefusal refusal : values()) {
			if (refusal.isIn(failure)) {
				return (refusal == ERR && matches(failure, TOO_MANY)) ? null : refusal;
			}
		}
		return null;
	}

	static boolean saysIn(Throwable failure, String word) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause.getMessage() != null && cause.getMessage().contains(word)) {
				return true;
			}
		}
		return false;
	}

	private static boolean matches(Throwable failure, Pattern pattern) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause.getMessage() != null && pattern.matcher(cause.getMessage()).lookingAt()) {
				return true;
			}
		}
		return false;
	}

}
