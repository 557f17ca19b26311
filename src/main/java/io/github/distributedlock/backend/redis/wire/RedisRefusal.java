package io.github.distributedlock.backend.redis.wire;

import java.util.regex.Pattern;

import io.github.distributedlock.LockException;
import org.jspecify.annotations.Nullable;

/**
 * What a server says when it refuses a command, and what to do about it.
 */
public enum RedisRefusal {

	WRONGTYPE(false,
			"the Redis key holds something else than what locks keep there: remove or rename it, or choose another key prefix"),
	NOPERM(false, "allow the user of the connection the commands, keys and channels of the locks (ACL SETUSER)"),
	NOAUTH(false, "set spring.data.redis.password, and spring.data.redis.username if the server has users"),
	WRONGPASS(false, "correct spring.data.redis.username and spring.data.redis.password"),
	DENIED(false, "the server runs in protected mode: set a password or its bind address"),
	CROSSSLOT(false, "the names of a lock have to be in one slot"),
	LOADING(true, "the server is loading its data: wait for it"),
	BUSY(true, "a script blocks the server: find and end it (SCRIPT KILL)"),
	READONLY(true, "the node is a replica: connect to the master, or wait for the failover to end"),
	MASTERDOWN(true, "the node has lost its master: connect to the master, or wait for the failover to end"),
	CLUSTERDOWN(true, "the cluster does not serve this slot: check its nodes"),
	TRYAGAIN(true, "the slot is moving to another node: wait for it"),
	MOVED(true, "the server is a node of a cluster: configure the cluster's nodes, or wait for the slot to have moved"),
	ASK(true, "the slot is moving to another node: configure the cluster's nodes, or wait for it"),
	NOREPLICAS(true, "the server writes only with enough replicas (min-replicas-to-write): check them"),
	MISCONF(true, "the server cannot save to its disk and refuses writes: check its disk"),
	OOM(true, "the server is at its memory limit: raise maxmemory or remove data"),
	EXECABORT(true,
			"a command of the transaction was refused: check whether the server is at its memory limit, and what its user may do"),

	/**
	 * A command that the server does not have, or not in this form. Other texts behind
	 * this code are no refusals: a proxy says so of a command that was carried out.
	 */
	ERR(false, "see what the server says");

	// A message begins with its code. Older servers put that of a command in a script
	// further back, after the place in the script; never after a name, which is quoted
	// and may look like a code.
	private static final String BEFORE_CODE = "(?:[^'\"]*: )?-?";

	private static final Pattern ERROR = Pattern.compile("-?ERR ");

	// Redis and Valkey check this before they carry anything out. So do proxies, and
	// servers for rent, for the commands that they do not pass on.
	private static final Pattern REFUSED = Pattern
		.compile("-?ERR " + "(?:unknown (?:sub)?command|unsupported command|wrong number of arguments|syntax error"
				+ "|value is not an integer|invalid expire time|operation not permitted"
				+ "|(?:the )?command ['\"`]?\\w+['\"`]? (?:is )?(?:not|un)[ -]?(?:support|allowed|permitted|available)"
				+ "|error compiling script|[^'\"]*(?:unknown|this) redis command (?:called|is not allowed) from)",
				Pattern.CASE_INSENSITIVE);

	// Older servers wrap the error of a command in a script, and say this without a code.
	private static final Pattern DENIED_IN_SCRIPT = Pattern
		.compile("[^'\"]*(?:can't run this command|ACL failure in script)");

	private static final Pattern TOO_MANY = Pattern.compile("ERR max number of clients");

	// What DELEX says instead of the code.
	private static final Pattern NO_STRING = Pattern.compile("-?ERR Key should be of string type");

	private final Pattern code = Pattern.compile(BEFORE_CODE + name() + " ");

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

	public boolean isIn(Throwable failure) {
		return switch (this) {
			case ERR -> matches(failure, REFUSED);
			case NOPERM -> matches(failure, DENIED_IN_SCRIPT) || matches(failure, this.code);
			case WRONGTYPE -> matches(failure, NO_STRING) || matches(failure, this.code);
			default -> matches(failure, this.code);
		};
	}

	/**
	 * Finds what the server refused with, so that it has certainly not carried out what
	 * it was asked.
	 * @param failure the client's exception
	 * @return the refusal, or {@code null} if no server said that it refused
	 */
	public static @Nullable RedisRefusal of(Throwable failure) {
		if (NOPERM.isIn(failure)) {
			return NOPERM;
		}
		for (RedisRefusal refusal : values()) {
			if (refusal.isIn(failure)) {
				return refusal;
			}
		}
		return null;
	}

	/**
	 * Whether a server, or a proxy before it, answered that something is wrong, which may
	 * be no refusal.
	 * @param failure the client's exception
	 * @return {@code false} also if there are too many clients, as the answer is then to
	 * the connection
	 */
	public static boolean isError(Throwable failure) {
		return matches(failure, ERROR) && !matches(failure, TOO_MANY);
	}

	public static boolean saysIn(Throwable failure, String word) {
		for (Throwable cause : LockException.causes(failure)) {
			if (cause.getMessage() != null && cause.getMessage().contains(word)) {
				return true;
			}
		}
		return false;
	}

	private static boolean matches(Throwable failure, Pattern pattern) {
		for (Throwable cause : LockException.causes(failure)) {
			if (cause.getMessage() != null && pattern.matcher(cause.getMessage()).lookingAt()) {
				return true;
			}
		}
		return false;
	}

}
