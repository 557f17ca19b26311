package io.github.distributedlock.backend;

import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * A store's message to an instance. The message says that a key is reserved for a waiter,
 * or may be free. A store that {@linkplain LockFeature#GRANTS grants} also tells a waiter
 * that its claim owns the key already, and an owner that others ask for a key which that
 * owner may give back.
 *
 * @param key the user's key
 * @param waiter the waiter that is notified, as it was {@linkplain Claim#waiter()
 * registered}
 * @param owner the owner that the key was granted to, for as long as its claim says,
 * counted by the store from the grant on; or the owner that the key is recalled from;
 * {@code null} if the waiter has to ask
 * @param number the {@linkplain Claim#number() number} of the claim that the key was
 * granted to; 0 if the waiter has to ask, negative for a recall
 * @since 1.0
 */
public record ReleaseNotification(String key, Waiter waiter, @Nullable String owner, long number) {

	private static final long RECALL = -1;

	private static final Pattern TEXT = Pattern.compile(KeyState.KIND + "(\\S+) (-1|\\d{1,18}) (.*)", Pattern.DOTALL);

	/**
	 * Checks that the key and the waiter are not {@code null}.
	 */
	public ReleaseNotification {
		Objects.requireNonNull(key, "key");
		Objects.requireNonNull(waiter, "waiter");
	}

	/**
	 * Notifies a waiter, which has to ask for the key.
	 * @param key the user's key
	 * @param waiter the waiter, as it was {@linkplain Claim#waiter() registered}
	 * @return the notification
	 */
	public static ReleaseNotification of(String key, Waiter waiter) {
		return new ReleaseNotification(key, waiter, null, 0);
	}

	/**
	 * Notifies a waiter whose claim owns the key already.
	 * @param key the user's key
	 * @param waiter the waiter, as it was {@linkplain Claim#waiter() registered}
	 * @param owner the claim's owner
	 * @param number the claim's {@linkplain Claim#number() number}
	 * @return the notification
	 */
	public static ReleaseNotification granted(String key, Waiter waiter, String owner, long number) {
		return new ReleaseNotification(key, waiter, Objects.requireNonNull(owner, "owner"), number);
	}

	/**
	 * Asks an owner for a key that another instance has asked for.
	 * @param key the user's key
	 * @param owner the owner that has the key, {@linkplain Claim#isRecallable(String)
	 * recallable}
	 * @return the notification
	 */
	public static ReleaseNotification recall(String key, String owner) {
		return new ReleaseNotification(key, Waiter.exclusive(Claim.instanceOf(owner)), owner, RECALL);
	}

	/**
	 * Reads a notification that a store has sent as a text.
	 * @param text a text that {@link #text()} returned
	 * @return the notification, {@code null} if the text describes no notification
	 */
	public static @Nullable ReleaseNotification parse(String text) {
		Matcher parts = TEXT.matcher(text);
		if (!parts.matches()) {
			return null;
		}
		String name = parts.group(2);
		long number = Long.parseLong(parts.group(3));
		if (number == RECALL) {
			return recall(parts.group(4), name);
		}
		Waiter waiter = KeyState.waiter(parts.group(1), name);
		return (number > 0) ? granted(parts.group(4), waiter, name, number) : of(parts.group(4), waiter);
	}

	/**
	 * Returns whether the notification asks an owner for its key.
	 */
	boolean isRecall() {
		return this.number == RECALL;
	}

	/**
	 * Returns the notification as a text.
	 * @return the kind and the name of the waiter, or the owner that the key was granted
	 * to or is recalled from; the number; and the key
	 */
	public String text() {
		return KeyState.kind(this.waiter) + " " + ((this.owner != null) ? this.owner : KeyState.nameOf(this.waiter))
				+ " " + this.number + " " + this.key;
	}

}
