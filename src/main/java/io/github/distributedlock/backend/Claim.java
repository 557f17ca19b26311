package io.github.distributedlock.backend;

import java.time.Duration;
import java.util.Objects;

import io.github.distributedlock.LockMode;
import org.jspecify.annotations.Nullable;

/**
 * A request to a store to give a key to an owner, or to let the owner keep it.
 * <p>
 * Immutable, with withers: what is not said is that the key is wanted alone, without a
 * fencing token, and not in strict order of arrival.
 */
public final class Claim {

	private final String key;

	private final String owner;

	private final String instance;

	private final Duration lease;

	private final LockMode mode;

	private final boolean fair;

	private final boolean fenced;

	private Claim(String key, String owner, String instance, Duration lease, LockMode mode, boolean fair,
			boolean fenced) {
		this.key = Objects.requireNonNull(key, "key");
		this.owner = Objects.requireNonNull(owner, "owner");
		this.instance = Objects.requireNonNull(instance, "instance");
		this.lease = Objects.requireNonNull(lease, "lease");
		this.mode = Objects.requireNonNull(mode, "mode");
		this.fair = fair;
		this.fenced = fenced;
	}

	/**
	 * Claims a key for one owner alone.
	 * @param key the user's key
	 * @param owner the owner token, unique for each acquisition; begins with the instance
	 * and a colon
	 * @param instance the engine that asks; has no colon and no space
	 * @param lease for how long, counted by the store from the moment at which it carries
	 * the claim out; whole milliseconds
	 * @return the claim
	 */
	public static Claim of(String key, String owner, String instance, Duration lease) {
		return new Claim(key, owner, instance, lease, LockMode.EXCLUSIVE, false, false);
	}

	/**
	 * The instance in whose name an owner token was made.
	 * @param owner the owner token
	 * @return what it begins with, up to the first colon
	 */
	public static String instanceOf(String owner) {
		return owner.split(":", 2)[0];
	}

	/**
	 * Claims the key for another time.
	 * @param lease for how long
	 * @return the claim with that lease
	 */
	public Claim lease(Duration lease) {
		return new Claim(this.key, this.owner, this.instance, lease, this.mode, this.fair, this.fenced);
	}

	/**
	 * Claims the key alone, or together with others. Anything but
	 * {@link LockMode#EXCLUSIVE} only of a store with {@link LockFeature#SHARED}.
	 * @param mode the mode
	 * @return the claim in that mode
	 */
	public Claim mode(LockMode mode) {
		return (mode == this.mode) ? this
				: new Claim(this.key, this.owner, this.instance, this.lease, mode, this.fair, this.fenced);
	}

	/**
	 * Gives the claim a place of its own among those that wait, so that it never gets
	 * ahead of one that came before. Only of a store with {@link LockFeature#FAIR}.
	 * @param fair whether to do so
	 * @return the claim with such a place, or without
	 */
	public Claim fair(boolean fair) {
		return (fair == this.fair) ? this
				: new Claim(this.key, this.owner, this.instance, this.lease, this.mode, fair, this.fenced);
	}

	/**
	 * Asks for a fencing token: a number greater than all that owners of the key got
	 * before. Only of a store with {@link LockFeature#FENCING}.
	 * @param fenced whether to do so
	 * @return the claim with a token, or without
	 */
	public Claim fenced(boolean fenced) {
		return (fenced == this.fenced) ? this
				: new Claim(this.key, this.owner, this.instance, this.lease, this.mode, this.fair, fenced);
	}

	/**
	 * The user's key.
	 * @return the key
	 */
	public String key() {
		return this.key;
	}

	/**
	 * The owner token.
	 * @return the token
	 */
	public String owner() {
		return this.owner;
	}

	/**
	 * The engine that asks.
	 * @return its name
	 */
	public String instance() {
		return this.instance;
	}

	/**
	 * For how long the key is claimed.
	 * @return the time, in whole milliseconds
	 */
	public Duration lease() {
		return this.lease;
	}

	/**
	 * Who may own the key together.
	 * @return the mode
	 */
	public LockMode mode() {
		return this.mode;
	}

	/**
	 * Whether it has a place of its own among those that wait.
	 * @return {@code true} if it has
	 */
	public boolean fair() {
		return this.fair;
	}

	/**
	 * Whether the owner is to get a fencing token.
	 * @return {@code true} if it is
	 */
	public boolean fenced() {
		return this.fenced;
	}

	/**
	 * The waiter that is registered if this has to wait.
	 * @return the owner itself if the claim is fair, otherwise its instance, whose
	 * readers are another waiter than its writers
	 */
	public Waiter waiter() {
		return new Waiter(this.instance, this.mode, this.fair ? this.owner : null);
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return other instanceof Claim claim && this.key.equals(claim.key) && this.owner.equals(claim.owner)
				&& this.instance.equals(claim.instance) && this.lease.equals(claim.lease) && this.mode == claim.mode
				&& this.fair == claim.fair && this.fenced == claim.fenced;
	}

	@Override
	public int hashCode() {
		return Objects.hash(this.key, this.owner, this.lease);
	}

	@Override
	public String toString() {
		return "Claim[key=" + this.key + ", owner=" + this.owner + ", lease=" + this.lease + ", mode=" + this.mode
				+ (this.fair ? ", fair" : "") + (this.fenced ? ", fenced" : "") + "]";
	}

}
