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
 *
 * @param key the user's key
 * @param owner the owner token, unique for each acquisition; begins with the instance and
 * a colon
 * @param waiter the waiter that is registered if the claim has to wait: the owner if the
 * claim is fair, otherwise the instance, whose readers are another waiter than its
 * writers
 * @param lease for how long the key is claimed, in whole milliseconds, counted by the
 * store from the moment at which the store carries the claim out
 * @param fenced whether the store answers with a fencing token: a number greater than all
 * tokens that owners of the key got before. Only for a store with
 * {@link LockFeature#FENCING}
 * @param grant what the store may do for the claim later if the claim has to wait
 * @since 1.0
 */
public record Claim(String key, String owner, Waiter waiter, Duration lease, boolean fenced, Grant grant) {

	/**
	 * The last character of a recallable owner token. The owner may be asked to give its
	 * key back: such a key may stay with its instance when nobody uses the key any more.
	 * A store that notifies tells the owner's instance of each attempt of another
	 * instance that finds the key busy.
	 */
	public static final String RECALLABLE = "~";

	private static final Grant NO_GRANT = new Grant(0, null, Set.of());

	/**
	 * The part of a claim by which a store may grant the key without being asked again.
	 *
	 * @param number the {@linkplain Claim#number() number}
	 * @param lease the lease of a granted key, {@code null} for the claim's lease
	 * @param replaced the {@linkplain Claim#replaced() replaced} owners
	 */
	record Grant(long number, @Nullable Duration lease, Set<String> replaced) {
	}

	/**
	 * Checks that the key, the owner and the waiter are not {@code null}.
	 */
	public Claim {
		Objects.requireNonNull(key, "key");
		Objects.requireNonNull(owner, "owner");
		Objects.requireNonNull(waiter, "waiter");
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
		return new Claim(key, owner, waiter, lease, false, NO_GRANT);
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
		return LockFeature.of(mode(), fair(), this.fenced, permits());
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
		return this.grant.number;
	}

	/**
	 * Returns for how long the key is claimed if the store grants the key.
	 * @return the lease of a grant, in whole milliseconds, {@link #lease()} at most
	 */
	public Duration grantLease() {
		Duration shorter = this.grant.lease;
		return (shorter != null && shorter.compareTo(this.lease) < 0) ? shorter : this.lease;
	}

	/**
	 * Returns the owner tokens whose place the claim's owner takes if one of them owns
	 * the key: the key was granted to that owner, and the grant was not accepted.
	 * @return tokens of the same instance, none of which is in use; mostly none
	 */
	public Set<String> replaced() {
		return this.grant.replaced;
	}

	/**
	 * Claims the key for another time, whether the key is taken or granted.
	 * @param lease for how long the key is claimed
	 * @return the claim with that lease
	 */
	public Claim lease(Duration lease) {
		Grant same = new Grant(number(), null, replaced());
		return new Claim(this.key, this.owner, this.waiter, lease, this.fenced, same);
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
		return new Claim(this.key, this.owner, waiter, this.lease, this.fenced, this.grant);
	}

	/**
	 * Asks for a fencing token.
	 * @param fenced whether the store answers with a fencing token
	 * @return the claim with a token, or without
	 */
	public Claim fenced(boolean fenced) {
		return (fenced == this.fenced) ? this
				: new Claim(this.key, this.owner, this.waiter, this.lease, fenced, this.grant);
	}

	/**
	 * Lets the store grant the key.
	 * @param number the number of this attempt, 0 if the store must not grant the key
	 * @return the claim with that number
	 */
	public Claim number(long number) {
		return with(new Grant(number, this.grant.lease, replaced()));
	}

	/**
	 * Claims the key for a shorter time if the key is granted than if the key is taken.
	 * @param lease for how long a grant lasts
	 * @return the claim with that lease of a grant
	 */
	public Claim grantLease(Duration lease) {
		return with(new Grant(number(), lease, replaced()));
	}

	/**
	 * Takes the place of other owners, if one of them owns the key.
	 * @param owners the tokens of these owners
	 * @return the claim with these owners
	 */
	public Claim replacing(Set<String> owners) {
		return with(new Grant(number(), this.grant.lease, Set.copyOf(owners)));
	}

	private Claim with(Grant grant) {
		return new Claim(this.key, this.owner, this.waiter, this.lease, this.fenced, grant);
	}

}
