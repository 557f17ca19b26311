package io.github.distributedlock.backend.redis.internal;

import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.distributedlock.LockException;
import org.jspecify.annotations.Nullable;

/**
 * The reasons for which a server refuses a command, each with the remedy.
 */
public enum RedisRefusal {

	WRONGTYPE(false,
			"the Redis key holds something else than what locks keep there: remove or rename it, or choose another key prefix"),
	NOPERM(false, "allow the user of the connection the commands, keys and channels of the locks (ACL SETUSER)"),
	NO_SENTINEL_AUTH(false,
			"correct spring.data.redis.sentinel.username and spring.data.redis.sentinel.password,"
					+ " or remove them if the Sentinels have none",
			"None of the Sentinels .*: (?:NOAUTH |WRONGPASS |ERR (?:invalid password|AUTH <|Client sent AUTH))"),
	NOAUTH(false, "set spring.data.redis.password, and spring.data.redis.username if the server has users"),
	WRONGPASS(false, "correct spring.data.redis.username and spring.data.redis.password",
			"(?:WRONGPASS |ERR invalid password)"),
	NO_PASSWORD(false, "remove spring.data.redis.password: the server's user has none",
			"ERR (?:AUTH <password> called without any password|Client sent AUTH, but no password is set)"),
	NO_DATABASE(false, "set spring.data.redis.database to one that the server has, in a cluster to 0",
			"ERR (?:DB index is out of range|invalid DB index|SELECT is not allowed in cluster mode)"),
	NO_NAME(false, "correct spring.data.redis.client-name", "ERR Client names cannot contain"),
	NO_CLUSTER(false,
			"the server is no node of a cluster: set spring.data.redis.host and spring.data.redis.port,"
					+ " and remove spring.data.redis.cluster.nodes",
			"ERR This instance has cluster support disabled"),
	NO_SENTINEL(false,
			"the server is no Sentinel: set spring.data.redis.sentinel.nodes to the Sentinels and their port,"
					+ " or remove it, and set spring.data.redis.host",
			"ERR unknown command ['`]SENTINEL"),
	NO_MASTER(false, "set spring.data.redis.sentinel.master to the name that the Sentinels have for it",
			"Sentinel [^ ]+ knows no master of the name"),
	DENIED(false, "the server runs in protected mode: set a password or its bind address"),

	/**
	 * The script or command has keys in several slots. Proxies before clusters answer
	 * with the second text.
	 */
	CROSSSLOT(false, "the names of a lock have to be in one slot",
			"(?:CROSSSLOT |ERR [\\w/'` ]{0,40}keys must (?:be )?in (?:the )?same slot)"),
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
	 * The server does not have the command, or not in this form. Other texts behind this
	 * code are no refusals: a proxy may answer with this code to a command that was
	 * carried out.
	 */
	ERR(false, "see what the server says");

	// A message begins with a code. Older servers put the code of a command in a script
	// further back, after the place in the script; never after a name, which is quoted
	// and may look like a code.
	private static final String BEFORE_CODE = "(?:[^'\"]*: )?-?";

	private static final Pattern ERROR = Pattern.compile("-?ERR ");

	// Redis and Valkey check these conditions before they carry anything out. Proxies and
	// managed services do the same for commands that they do not pass on.
	private static final Pattern REFUSED = Pattern
		.compile("-?ERR " + "(?:unknown (?:sub)?command|unsupported command|wrong number of arguments|syntax error"
				+ "|value is not an integer|invalid expire time|operation not permitted"
				+ "|(?:the )?command ['\"`]?\\w+['\"`]? (?:is )?(?:not|un)[ -]?(?:support|allowed|permitted|available)"
				+ "|error compiling script|[^'\"]*(?:unknown|this) redis command (?:called|is not allowed) from)",
				Pattern.CASE_INSENSITIVE);

	// Older servers wrap the error of a command in a script, and answer with these words,
	// without a code.
	private static final Pattern DENIED_IN_SCRIPT = Pattern
		.compile("[^'\"]*(?:can't run this command|ACL failure in script)");

	private static final Throwable[] NONE = {};

	private static final Pattern TOO_MANY = Pattern.compile("ERR max number of clients");

	// DELEX answers with this text instead of the code.
	private static final Pattern NO_STRING = Pattern.compile("-?ERR Key should be of string type");

	private final Pattern code;

	private final boolean passing;

	private final String remedy;

	RedisRefusal(boolean passing, String remedy) {
		this(passing, remedy, null);
	}

	RedisRefusal(boolean passing, String remedy, @Nullable String words) {
		this.passing = passing;
		this.remedy = remedy;
		this.code = Pattern.compile(BEFORE_CODE + ((words != null) ? words : name() + " "));
	}

	/**
	 * Returns whether the server may accept the same command a little later.
	 * @return {@code false} for a refusal that lasts
	 */
	boolean passes() {
		return this.passing;
	}

	String remedy() {
		return this.remedy;
	}

	public boolean isIn(Throwable failure) {
		return wordsIn(failure) != null;
	}

	/**
	 * Returns the words of the server.
	 * @param failure the client's exception
	 * @return the words, {@code null} if the server did not refuse for this reason
	 */
	@Nullable String wordsIn(Throwable failure) {
		if (this == ERR) {
			return find(failure, REFUSED);
		}
		Pattern other = (this == WRONGTYPE) ? NO_STRING : DENIED_IN_SCRIPT;
		boolean inOtherWords = (this == WRONGTYPE || this == NOPERM) && matches(failure, other);
		return find(failure, inOtherWords ? other : this.code);
	}

	/**
	 * Finds the refusal in a failure. A server that refused has certainly not carried out
	 * the command.
	 * @param failure the client's exception
	 * @return the refusal, {@code null} if no server refused
	 */
	public static @Nullable RedisRefusal of(Throwable failure) {
		return NOPERM.isIn(failure) ? NOPERM
				: Stream.of(values()).filter((refusal) -> refusal.isIn(failure)).findFirst().orElse(null);
	}

	/**
	 * Returns whether a server, or a proxy before the server, answered with an error,
	 * which may be no refusal.
	 * @param failure the client's exception
	 * @return {@code true} for an error; {@code false} for the error of too many clients,
	 * which answers the connection and not a command
	 */
	public static boolean isError(Throwable failure) {
		return matches(failure, ERROR) && !matches(failure, TOO_MANY);
	}

	public static boolean saysIn(Throwable failure, String word) {
		return LockException.causes(failure)
			.stream()
			.anyMatch((cause) -> String.valueOf(cause.getMessage()).contains(word));
	}

	private static boolean matches(Throwable failure, Pattern pattern) {
		return find(failure, pattern) != null;
	}

	// Finds the deepest message that matches. If no connection could be opened, the
	// answers of the servers are suppressed exceptions, and not causes. Such an answer
	// counts only if all servers gave it: otherwise another server may still accept
	// later.
	private static @Nullable String find(Throwable failure, Pattern pattern) {
		String found = null;
		boolean unsent = false;
		for (Throwable cause : LockException.causes(failure)) {
			String message = cause.getMessage();
			if (message != null && pattern.matcher(message).lookingAt()) {
				found = message;
			}
			unsent |= cause instanceof UnsentException;
			Throwable[] others = unsent ? cause.getSuppressed() : NONE;
			if (others.length > 0 && Stream.of(others).allMatch((other) -> matches(other, pattern))) {
				found = find(others[0], pattern);
			}
		}
		return found;
	}

}
