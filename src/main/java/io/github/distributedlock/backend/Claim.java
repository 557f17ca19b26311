package io.github.distributedlock.backend;

import java.time.Duration;
import java.util.Objects;
import java.util.Set;

import io.github.distributedlock.LockMode;
import org.jspecify.annotations.Nullable;

/**
 * A request to a store to give a key to an owner, or to let the owner keep it.
 * <p>
 * Immutable, with withers: what is not said is that the key is wanted alone, without a
 * fencing token, and not in strict order of arrival.
 */
public final class Claim {

	/**
	 * Longer than any lease.
	 */
	private static final Duration ANY = Duration.ofSeconds(Long.MAX_VALUE);

	private final String key;

	private final String owner;

	private final String instance;

	private final Duration lease;

	private final LockMode mode;

	private final boolean fair;

	private final boolean fenced;

	private final long number;

	private final Duration grantLease;

	private final Set<String> replaced;

	private Claim(String key, String owner, String instance, Duration lease, LockMode mode, boolean fair,
			boolean fenced, long number, Duration grantLease, Set<String> replaced) {
		this.key = Objects.requireNonNull(key, "key");
		this.owner = Objects.requireNonNull(owner, "owner");
		this.instance = Objects.requireNonNull(instance, "instance");
		this.lease = Objects.requireNonNull(lease, "lease");
		this.mode = Objects.requireNonNull(mode, "mode");
		this.fair = fair;
		this.fenced = fenced;
		this.number = number;
		this.grantLease = Objects.requireNonNull(grantLease, "grantLease");
		this.replaced = replaced;
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
		return new Claim(key, owner, instance, lease, LockMode.EXCLUSIVE, false, false, 0, ANY, Set.of());
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
		return new Claim(this.key, this.owner, this.instance, lease, this.mode, this.fair, this.fenced, this.number,
				this.grantLease, this.replaced);
	}

	/**
	 * Claims the key alone, or together with others. Anything but
	 * {@link LockMode#EXCLUSIVE} only of a store with {@link LockFeature#SHARED}.
	 * @param mode the mode
	 * @return the claim in that mode
	 */
	public Claim mode(LockMode mode) {
		return (mode == this.mode) ? this : new Claim(this.key, this.owner, this.instance, this.lease, mode, this.fair,
				this.fenced, this.number, this.grantLease, this.replaced);
	}

	/**
	 * Gives the claim a place of its own among those that wait, so that it never gets
	 * ahead of one that came before. Only of a store with {@link LockFeature#FAIR}.
	 * @param fair whether to do so
	 * @return the claim with such a place, or without
	 */
	public Claim fair(boolean fair) {
		return (fair == this.fair) ? this : new Claim(this.key, this.owner, this.instance, this.lease, this.mode, fair,
				this.fenced, this.number, this.grantLease, this.replaced);
	}

	/**
	 * Asks for a fencing token: a number greater than all that owners of the key got
	 * before. Only of a store with {@link LockFeature#FENCING}.
	 * @param fenced whether to do so
	 * @return the claim with a token, or without
	 */
	public Claim fenced(boolean fenced) {
		return (fenced == this.fenced) ? this : new Claim(this.key, this.owner, this.instance, this.lease, this.mode,
				this.fair, fenced, this.number, this.grantLease, this.replaced);
	}

	/**
	 * Lets the store make the owner the owner of the key when its turn comes, without
	 * being asked again. Only of a {@link GrantingQueue}, which names the number in its
	 * {@linkplain ReleaseNotification#owner() notification}; others ignore it.
	 * @param number the number of this attempt, from 1 and greater than those of all
	 * attempts of this owner before; 0 if that must not be done
	 * @return the claim with that number
	 */
	public Claim number(long number) {
		return new Claim(this.key, this.owner, this.instance, this.lease, this.mode, this.fair, this.fenced, number,
				this.grantLease, this.replaced);
	}

	/**
	 * Claims the key for a shorter time if it is granted than if it is taken: only of a
	 * {@link GrantingQueue}, for a claim with a number.
	 * @param lease for how long a grant lasts; whole milliseconds
	 * @return the claim with that lease of a grant
	 */
	public Claim grantLease(Duration lease) {
		return new Claim(this.key, this.owner, this.instance, this.lease, this.mode, this.fair, this.fenced,
				this.number, lease, this.replaced);
	}

	/**
	 * Takes the place of other owners, if one of them owns the key: what a
	 * {@link GrantingQueue} has granted to them was not accepted.
	 * @param owners owner tokens of the same instance, none of which is in use
	 * @return the claim that replaces them
	 */
	public Claim replacing(Set<String> owners) {
		return new Claim(this.key, this.owner, this.instance, this.lease, this.mode, this.fair, this.fenced,
				this.number, this.grantLease, Set.copyOf(owners));
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
	 * The number of this attempt.
	 * @return the number; 0 if the store must not grant the key without being asked again
	 */
	public long number() {
		return this.number;
	}

	/**
	 * For how long the key is claimed if it is granted.
	 * @return the time, in whole milliseconds, {@link #lease()} at most
	 */
	public Duration grantLease() {
		return (this.grantLease.compareTo(this.lease) < 0) ? this.grantLease : this.lease;
	}

	/**
	 * The owners that it takes the place of.
	 * @return their tokens, mostly none; unmodifiable
	 */
	public Set<String> replaced() {
		return this.replaced;
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
				&& this.fair == claim.fair && this.fenced == claim.fenced && this.number == claim.number
				&& grantLease().equals(claim.grantLease()) && this.replaced.equals(claim.replaced);
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
