package io.github.distributedlock.backend.redis;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import org.jspecify.annotations.Nullable;

/**
 * The form of holders and waiters in Redis. The scripts use the same form: see
 * {@code lib-lock.lua} and {@code lib-grant.lua}.
 * <p>
 * A lock is a string: an owner token, {@code reserved:} and a waiter, or {@code parked:}
 * and an owner token. A shared lock is a sorted set of {@code shared:} and an owner
 * token, {@code reserved:} and an instance, and {@code parked:} and an owner token. A
 * lock whose owners have permits is a sorted set of the same texts as in the string, each
 * behind {@code permit:}. A waiter is an instance; {@code shared:} and an instance;
 * {@code permits:}, the number of permits, a colon and an instance; or the owner token of
 * a fair request, which has a colon.
 */
final class LockCodec {

	private static final String SHARED = "shared:";

	private static final String PERMIT = "permit:";

	private static final Pattern PERMITS = Pattern.compile("permits:([1-9][0-9]{0,8}):(.*)");

	private static final String RESERVED = "reserved:";

	private static final String EXPIRING = "parked:";

	private static final String GRANTED = "granted: ";

	private static final String RECALL = "recall: ";

	/**
	 * The number of a claim, with a zero before the number if the grant may have been
	 * undone.
	 */
	private static final Pattern NUMBER = Pattern.compile("0?[1-9][0-9]{0,17}");

	private LockCodec() {
	}

	/**
	 * Writes a waiter.
	 * @param waiter the waiter
	 * @return the text of the waiter
	 */
	static String text(Waiter waiter) {
		String ticket = waiter.ticket();
		if (ticket != null) {
			return ticket;
		}
		String kind = waiter.isShared() ? SHARED : (waiter.permits() > 1) ? "permits:" + waiter.permits() + ":" : "";
		return kind + waiter.instance();
	}

	/**
	 * Reads a waiter.
	 * @param text the text of the waiter
	 * @return the waiter
	 */
	static Waiter waiter(String text) {
		if (text.startsWith(SHARED)) {
			return Waiter.shared(text.substring(SHARED.length()));
		}
		Matcher permits = PERMITS.matcher(text);
		if (permits.matches()) {
			return Waiter.permits(permits.group(2), Integer.parseInt(permits.group(1)));
		}
		return (text.indexOf(':') < 0) ? Waiter.exclusive(text) : Waiter.fair(Claim.instanceOf(text), text);
	}

	/**
	 * Reads a message to an instance. The message has the waiter and the user's key; or
	 * {@code granted:}, the number of the claim, the owner of the claim, the waiter and
	 * the user's key; or {@code recall:}, the owner and the user's key. Only the key may
	 * have spaces. Scripts of a version that undoes grants which reached nobody write a
	 * zero before the number. The notification then has the number 0, which no claim has,
	 * so that the waiter asks.
	 * @param message the message
	 * @return the notification, {@code null} if the message is none
	 */
	static @Nullable ReleaseNotification notification(String message) {
		if (message.startsWith(RECALL)) {
			String[] words = message.substring(RECALL.length()).split(" ", 2);
			return (words.length == 2) ? ReleaseNotification.recall(words[1], words[0]) : null;
		}
		if (!message.startsWith(GRANTED)) {
			String[] words = message.split(" ", 2);
			return (words.length == 2) ? ReleaseNotification.of(words[1], waiter(words[0])) : null;
		}
		String[] words = message.substring(GRANTED.length()).split(" ", 4);
		if (words.length < 4 || !NUMBER.matcher(words[0]).matches()) {
			return null;
		}
		long number = words[0].startsWith("0") ? 0 : Long.parseLong(words[0]);
		return ReleaseNotification.granted(words[3], waiter(words[2]), words[1], number);
	}

	/**
	 * Returns the value of a lock that is reserved for a waiter.
	 * @param waiter the waiter
	 * @return the value
	 */
	static String reservedFor(Waiter waiter) {
		return RESERVED + text(waiter);
	}

	/**
	 * Returns the value of a lock that is left to expire.
	 * @param owner the owner that leaves the lock
	 * @return the value
	 */
	static String expiring(String owner) {
		return EXPIRING + owner;
	}

	/**
	 * Reads the value of a lock that is not shared.
	 * @param value the value
	 * @return the holder
	 */
	static Holder holder(String value) {
		if (value.startsWith(RESERVED)) {
			Waiter waiter = waiter(value.substring(RESERVED.length()));
			String ticket = waiter.ticket();
			return Holder.reservation((ticket != null) ? ticket : waiter.instance()).in(waiter.mode());
		}
		return ownerOrExpiring(value).in(LockMode.EXCLUSIVE);
	}

	/**
	 * Returns whether a member of a lock that several owners have is one of several
	 * permits.
	 * @param member the member
	 * @return {@code true} if the member is a permit
	 */
	static boolean isPermit(String member) {
		return member.startsWith(PERMIT);
	}

	/**
	 * Reads a member of a lock that several owners have.
	 * @param member the member
	 * @return the holder, {@code null} if the sorted set is no lock
	 */
	static @Nullable Holder member(String member) {
		if (member.startsWith(SHARED)) {
			return Holder.owner(member.substring(SHARED.length())).in(LockMode.SHARED);
		}
		if (isPermit(member)) {
			return holder(member.substring(PERMIT.length()));
		}
		if (member.startsWith(RESERVED)) {
			return Holder.reservation(member.substring(RESERVED.length())).in(LockMode.SHARED);
		}
		return member.startsWith(EXPIRING) ? ownerOrExpiring(member).in(LockMode.SHARED) : null;
	}

	private static Holder ownerOrExpiring(String value) {
		return value.startsWith(EXPIRING) ? Holder.expiring(value.substring(EXPIRING.length())) : Holder.owner(value);
	}

}
