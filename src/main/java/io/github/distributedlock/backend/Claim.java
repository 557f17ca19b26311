package io.github.distributedlock.backend;

import java.time.Duration;
import java.util.Objects;
import java.util.Set;

import io.github.distributedlock.LockMode;
import org.jspecify.annotations.Nullable;

/**
 * A request to a store to give a key to an owner. {@link #of} and withers make claims. By
 * default a claim asks for the key alone, without a fencing token, and not in strict
 * order of arrival.
 * <p>
 * Immutable. A class, and no record, so that a claim may get more to ask for.
 *
 * @since 1.0
 */
public final class Claim {

	/**
	 * The last character of a recallable owner token. The owner may be asked to give its
	 * key back: such a key may stay with its instance when nobody uses the key any more.
	 * A store that notifies tells the owner's instance of each attempt of another
	 * instance that finds the key busy.
	 */
	public static final String RECALLABLE = "~";

	private static final Terms USUAL = new Terms(false, 0, null, Set.of());

	/**
	 * What most claims have alike, so that these claims share one object.
	 *
	 * @param fenced whether the store answers with a fencing token
	 * @param number the {@linkplain Claim#number() number}
	 * @param grantLease the lease of a granted key, {@code null} for the claim's lease
	 * @param replaced the {@linkplain Claim#replaced() replaced} owners
	 */
	private record Terms(boolean fenced, long number, @Nullable Duration grantLease, Set<String> replaced) {
	}

	private final String key;

	private final String owner;

	private final Waiter waiter;

	private final Duration lease;

	private final Terms terms;

	private Claim(String key, String owner, Waiter waiter, Duration lease, Terms terms) {
		this.key = Objects.requireNonNull(key, "key");
		this.owner = Objects.requireNonNull(owner, "owner");
		this.waiter = Objects.requireNonNull(waiter, "waiter");
		this.lease = Objects.requireNonNull(lease, "lease");
		this.terms = terms;
	}

	/**
	 * Claims a key for one owner alone.
	 * @param key the user's key
	 * @param owner the owner token
	 * @param instance the engine that asks
	 * @param lease for how long the key is claimed
	 * @return the claim
	 */
	public static Claim of(String key, String owner, String instance, Duration lease) {
		return of(key, owner, Waiter.exclusive(instance), lease);
	}

	/**
	 * Claims a key for one owner.
	 * @param key the user's key
	 * @param owner the owner token
	 * @param waiter the waiter that is registered if the claim has to wait
	 * @param lease for how long the key is claimed
	 * @return the claim
	 */
	public static Claim of(String key, String owner, Waiter waiter, Duration lease) {
		return new Claim(key, owner, waiter, lease, USUAL);
	}

	/**
	 * Returns the instance in whose name an owner token was made.
	 * @param owner the owner token
	 * @return the text before the first colon of the token
	 */
	public static String instanceOf(String owner) {
		int colon = owner.indexOf(':');
		return (colon < 0) ? owner : owner.substring(0, colon);
	}

	/**
	 * Returns whether an owner may be asked to give its key back.
	 * @param owner the owner token
	 * @return whether the token ends with {@link #RECALLABLE}
	 */
	public static boolean isRecallable(String owner) {
		return owner.endsWith(RECALLABLE);
	}

	/**
	 * Returns the user's key.
	 * @return the key
	 */
	public String key() {
		return this.key;
	}

	/**
	 * Returns the owner token, unique for each acquisition.
	 * @return the token; begins with the instance and a colon
	 */
	public String owner() {
		return this.owner;
	}

	/**
	 * Returns the waiter that is registered if the claim has to wait: the owner if the
	 * claim is fair, otherwise the instance, whose readers are another waiter than its
	 * writers.
	 * @return the waiter
	 */
	public Waiter waiter() {
		return this.waiter;
	}

	/**
	 * Returns for how long the key is claimed, counted by the store from the moment at
	 * which the store carries the claim out.
	 * @return the lease, in whole milliseconds
	 */
	public Duration lease() {
		return this.lease;
	}

	/**
	 * Returns whether the store answers with a fencing token: a number greater than all
	 * tokens that owners of the key got before.
	 * @return whether there is a token; {@code true} only for a store with
	 * {@link LockFeature#FENCING}
	 */
	public boolean fenced() {
		return this.terms.fenced;
	}

	/**
	 * Returns the engine that asks.
	 * @return the instance; has no colon and no space
	 */
	public String instance() {
		return this.waiter.instance();
	}

	/**
	 * Returns which owners may have the key together.
	 * @return the mode. Modes other than {@link LockMode#EXCLUSIVE} only for a store with
	 * {@link LockFeature#SHARED}
	 */
	public LockMode mode() {
		return this.waiter.mode();
	}

	/**
	 * Returns how many owners may have the key together. The store carries the claim out
	 * if, with the claim's owner, the key has at most so many holders. Holders that left
	 * the key to expire count, and so do reservations, whatever number of permits these
	 * holders asked for. A claim with several permits passes no waiter that came before.
	 * @return the number, mostly 1. More than 1 only for a store with
	 * {@link LockFeature#PERMITS}
	 */
	public int permits() {
		return this.waiter.permits();
	}

	/**
	 * Returns whether the claim has a place of its own among the waiters, so that the
	 * claim never gets ahead of a waiter that came before.
	 * @return whether the claim is fair; {@code true} only for a store with
	 * {@link LockFeature#FAIR}
	 */
	public boolean fair() {
		return this.waiter.isFair();
	}

	/**
	 * Returns the features that a store needs to serve the claim.
	 * @return the features, mostly none
	 */
	public Set<LockFeature> features() {
		return LockFeature.of(mode(), fair(), fenced(), permits());
	}

	/**
	 * Returns the number of this attempt, from 1 and greater than the numbers of all
	 * earlier attempts of this owner. A store that {@linkplain LockFeature#GRANTS grants}
	 * may make the claim's owner the owner of the key when the waiter's turn comes,
	 * without being asked again, and names the number in its
	 * {@linkplain ReleaseNotification#number() notification}. Other stores ignore the
	 * number.
	 * @return the number, 0 if the store must not grant the key
	 */
	public long number() {
		return this.terms.number;
	}

	/**
	 * Returns for how long the key is claimed if the store grants the key.
	 * @return the lease of a grant, in whole milliseconds, {@link #lease()} at most
	 */
	public Duration grantLease() {
		Duration shorter = this.terms.grantLease;
		return (shorter != null && shorter.compareTo(this.lease) < 0) ? shorter : this.lease;
	}

	/**
	 * Returns the owner tokens whose place the claim's owner takes if one of them owns
	 * the key: the key was granted to that owner, and the grant was not accepted.
	 * @return tokens of the same instance, none of which is in use; mostly none
	 */
	public Set<String> replaced() {
		return this.terms.replaced;
	}

	/**
	 * Claims the key for another time, whether the key is taken or granted.
	 * @param lease for how long the key is claimed
	 * @return the claim with that lease
	 */
	public Claim lease(Duration lease) {
		return new Claim(this.key, this.owner, this.waiter, lease, new Terms(fenced(), number(), null, replaced()));
	}

	/**
	 * Claims the key alone, or together with others.
	 * @param mode the mode
	 * @return the claim in that mode
	 */
	public Claim mode(LockMode mode) {
		return (mode == mode()) ? this : with(new Waiter(instance(), mode, this.waiter.ticket(), 1));
	}

	/**
	 * Claims one of several permits, in exclusive mode and not fair.
	 * @param permits how many owners may have the key together; with 1, the claim asks
	 * for the key alone
	 * @return the claim with so many permits
	 */
	public Claim permits(int permits) {
		return (permits == permits()) ? this : with(Waiter.permits(instance(), permits));
	}

	/**
	 * Gives the claim a place of its own among the waiters.
	 * @param fair whether the claim has such a place
	 * @return the claim with such a place, or without
	 */
	public Claim fair(boolean fair) {
		return (fair == fair()) ? this : with(new Waiter(instance(), mode(), fair ? this.owner : null, 1));
	}

	private Claim with(Waiter waiter) {
		return new Claim(this.key, this.owner, waiter, this.lease, this.terms);
	}

	/**
	 * Asks for a fencing token.
	 * @param fenced whether the store answers with a fencing token
	 * @return the claim with a token, or without
	 */
	public Claim fenced(boolean fenced) {
		return (fenced == fenced()) ? this : with(new Terms(fenced, number(), this.terms.grantLease, replaced()));
	}

	/**
	 * Lets the store grant the key.
	 * @param number the number of this attempt, 0 if the store must not grant the key
	 * @return the claim with that number
	 */
	public Claim number(long number) {
		return with(new Terms(fenced(), number, this.terms.grantLease, replaced()));
	}

	/**
	 * Claims the key for a shorter time if the key is granted than if the key is taken.
	 * @param lease for how long a grant lasts
	 * @return the claim with that lease of a grant
	 */
	public Claim grantLease(Duration lease) {
		return with(new Terms(fenced(), number(), lease, replaced()));
	}

	/**
	 * Takes the place of other owners, if one of them owns the key.
	 * @param owners the tokens of these owners
	 * @return the claim with these owners
	 */
	public Claim replacing(Set<String> owners) {
		return with(new Terms(fenced(), number(), this.terms.grantLease, Set.copyOf(owners)));
	}

	private Claim with(Terms terms) {
		return new Claim(this.key, this.owner, this.waiter, this.lease, terms);
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return other instanceof Claim claim && this.key.equals(claim.key) && this.owner.equals(claim.owner)
				&& this.waiter.equals(claim.waiter) && this.lease.equals(claim.lease) && this.terms.equals(claim.terms);
	}

	@Override
	public int hashCode() {
		return Objects.hash(this.key, this.owner);
	}

	@Override
	public String toString() {
		return "Claim[key=" + this.key + ", owner=" + this.owner + ", waiter=" + this.waiter + ", lease=" + this.lease
				+ ", " + this.terms + "]";
	}

}
