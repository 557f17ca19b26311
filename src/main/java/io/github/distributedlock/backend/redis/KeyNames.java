package io.github.distributedlock.backend.redis;

import java.nio.charset.StandardCharsets;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import org.springframework.data.redis.connection.ClusterSlotHashUtil;

/**
 * The names of a lock and its companions in Redis.
 * <p>
 * Invariants: two keys never share a name, no lock has the name of a companion, and the
 * companions of a key are in the slot of its lock. A key with a non-empty
 * <code>{tag}</code> follows <code>::</code> unchanged. Any other key is put in braces,
 * with the braces of the key escaped.
 */
final class KeyNames {

	private static final String[] COMPANIONS = { "-waiters", "-alive", "-claims", "-fence", "-wake" };

	private static final Pattern TAGGED = Pattern.compile("[^{]*\\{[^}]+}");

	private static final Pattern LONE_SURROGATE = Pattern.compile("\\p{Cs}");

	private static final Pattern ESCAPED = Pattern.compile("[{}%]|\\p{Cs}");

	private final String prefix;

	KeyNames(String prefix) {
		this.prefix = checked(prefix);
	}

	private static String checked(String prefix) {
		if (prefix.isBlank()) {
			throw new IllegalArgumentException("The key prefix is blank: use a name such as 'lock'");
		}
		if (prefix.indexOf('{') >= 0 || prefix.indexOf('}') >= 0) {
			throw new IllegalArgumentException("The key prefix '" + prefix + "' has a brace, which would put all locks"
					+ " in one slot of a cluster: use a prefix without '{' and '}'");
		}
		if (prefix.endsWith(":") || prefix.contains("::")) {
			throw new IllegalArgumentException("The key prefix '" + prefix
					+ "' ends with ':' or has '::', so that a lock"
					+ " could have the name of another, whose key follows '::': use a prefix without, such as 'lock'");
		}
		for (String companion : COMPANIONS) {
			if ((prefix + ":").contains(companion + ":")) {
				throw new IllegalArgumentException("The key prefix '" + prefix + "' reads like the name of a companion"
						+ " of other locks, '…" + companion + ":…': use a prefix without '" + companion + "'");
			}
		}
		return prefix;
	}

	byte[] lock(String key) {
		return name("", key);
	}

	byte[] waiters(String key) {
		return name("-waiters", key);
	}

	byte[] liveness(String key) {
		return name("-alive", key);
	}

	byte[] claims(String key) {
		return name("-claims", key);
	}

	byte[] fence(String key) {
		return name("-fence", key);
	}

	/**
	 * Returns a pattern that the names of all Redis keys match.
	 * @return the pattern, in the form of access rules
	 */
	String pattern() {
		return this.prefix + "*";
	}

	/**
	 * Returns the common beginning of the channels of all instances.
	 * @return the name of the channel without the instance
	 */
	String channels() {
		return this.prefix + "-wake:";
	}

	/**
	 * Returns the slot of a cluster that has the lock and the companions of the lock.
	 * @param key the user's key
	 * @return the slot
	 */
	int slot(String key) {
		return ClusterSlotHashUtil.calculateSlot(lock(key));
	}

	private byte[] name(String companion, String key) {
		if (key.isEmpty()) {
			// "{}" is no hash tag, so the companions would go to other slots.
			throw new IllegalArgumentException("The key of a lock is empty");
		}
		if (isPlain(key)) {
			return bytes(this.prefix + companion + ":{" + key + "}");
		}
		if (TAGGED.matcher(key).lookingAt() && !LONE_SURROGATE.matcher(key).find()) {
			return bytes(this.prefix + companion + "::" + key);
		}
		return bytes(this.prefix + companion + ":{" + ESCAPED.matcher(key).replaceAll(KeyNames::escape) + "}");
	}

	private static boolean isPlain(String key) {
		for (int i = 0; i < key.length(); i++) {
			char one = key.charAt(i);
			if (one == '{' || one == '}' || one == '%' || Character.isSurrogate(one)) {
				return false;
			}
		}
		return true;
	}

	// A lone surrogate has no UTF-8: Java would write '?' for each of them.
	private static String escape(MatchResult found) {
		int one = found.group().charAt(0);
		return (one < 128) ? String.format("%%%02X", one) : "%u" + Integer.toHexString(one);
	}

	static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	static byte[] number(long number) {
		return bytes(Long.toString(number));
	}

	static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

}
