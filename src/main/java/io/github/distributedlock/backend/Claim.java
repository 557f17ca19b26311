package io.github.distributedlock.backend;

import java.time.Duration;
import java.util.Objects;
import java.util.Set;

import io.github.distributedlock.LockMode;
import org.jspecify.annotations.Nullable;

/**
 * A request to a store to give a key to an owner. Made by {@link #of} and withers. By
 * default the key is wanted alone, without a fencing token, and not in strict order of
 * arrival.
 *
 * @param key the user's key
 * @param owner the owner token, unique for each acquisition; begins with the instance and
 * a colon
 * @param waiter what is registered if this has to wait: the owner itself if the claim is
 * fair, otherwise its instance, whose readers are another waiter than its writers
 * @param lease for how long the key is claimed, counted by the store from the moment at
 * which it carries the claim out; whole milliseconds
 * @param fenced whether to answer with a fencing token: a number greater than all that
 * owners of the key got before. Only of a store with {@link LockFeature#FENCING}
 * @param grant what may be done with it if the store cannot take the key at once
 * @since 1.0
 */
public record Claim(String key, String owner, Waiter waiter, Duration lease, boolean fenced, Grant grant) {

	/**
	 * Ends the owner token of an owner that may be asked to give its key back: a key that
	 * may stay with its instance when nobody uses the key any more. A store that notifies
	 * tells such an owner's instance of each attempt of another instance that finds the
	 * key busy.
	 */
	public static final String RECALLABLE = "~";

	private static final Grant NO_GRANT = new Grant(0, null, Set.of());

	/**
	 * What a store may do for a claim without being asked again.
	 *
	 * @param number the number of this attempt, from 1 and greater than those of all
	 * attempts of this owner before: a store that {@linkplain LockFeature#GRANTS grants}
	 * may make the owner the owner of the key when its turn comes, without being asked
	 * again, and names the number in its {@linkplain ReleaseNotification#number()
	 * notification}; 0 if that must not be done. Other stores ignore it
	 * @param lease for how long the key is claimed if it is granted, if that is shorter
	 * than the claim's lease; whole milliseconds
	 * @param replaced owner tokens of the same instance, none of which is in use, whose
	 * place this takes if one of them owns the key: what was granted to them was not
	 * accepted. Mostly none
	 */
	public record Grant(long number, @Nullable Duration lease, Set<String> replaced) {
	}

	/**
	 * Checks what must be there.
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
	 * @param lease for how long
	 * @return the claim
	 */
	public static Claim of(String key, String owner, String instance, Duration lease) {
		return of(key, owner, Waiter.exclusive(instance), lease);
	}

	/**
	 * Claims a key for one owner.
	 * @param key the user's key
	 * @param owner the owner token
	 * @param waiter what is registered if this has to wait
	 * @param lease for how long
	 * @return the claim
	 */
	public static Claim of(String key, String owner, Waiter waiter, Duration lease) {
		return new Claim(key, owner, waiter, lease, false, NO_GRANT);
	}

	/**
	 * The instance in whose name an owner token was made.
	 * @param owner the owner token
	 * @return what it begins with, up to the first colon
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
	 * The engine that asks.
	 * @return the instance; has no colon and no space
	 */
	public String instance() {
		return this.waiter.instance();
	}

	/**
	 * Which owners may have the key together.
	 * @return the mode. Anything but {@link LockMode#EXCLUSIVE} only of a store with
	 * {@link LockFeature#SHARED}
	 */
	public LockMode mode() {
		return this.waiter.mode();
	}

	/**
	 * How many owners may have the key together. The claim is carried out if with its
	 * owner the key has at most so many, those that left it to expire and those that it
	 * is kept for included, whatever the permits of these are. A claim with several
	 * permits passes no waiter that came before.
	 * @return the number, mostly 1. More only of a store with {@link LockFeature#PERMITS}
	 */
	public int permits() {
		return this.waiter.permits();
	}

	/**
	 * Whether it has a place of its own among those that wait, so that it never gets
	 * ahead of one that came before.
	 * @return {@code true} only of a store with {@link LockFeature#FAIR}
	 */
	public boolean fair() {
		return this.waiter.isFair();
	}

	/**
	 * What it takes of a store.
	 * @return the features, mostly none
	 */
	public Set<LockFeature> features() {
		return LockFeature.of(mode(), fair(), this.fenced, permits());
	}

	/**
	 * The number of this attempt.
	 * @return the number, 0 if the store must not grant the key
	 */
	public long number() {
		return this.grant.number;
	}

	/**
	 * For how long the key is claimed if it is granted.
	 * @return that lease, {@link #lease()} at most
	 */
	public Duration grantLease() {
		Duration shorter = this.grant.lease;
		return (shorter != null && shorter.compareTo(this.lease) < 0) ? shorter : this.lease;
	}

	/**
	 * The owner tokens whose place this takes.
	 * @return the tokens, mostly none
	 */
	public Set<String> replaced() {
		return this.grant.replaced;
	}

	/**
	 * Claims the key for another time, whether it is taken or granted.
	 * @param lease for how long
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
	 * @param permits how many owners may have the key together; with 1, it is claimed
	 * alone
	 * @return the claim with so many permits
	 */
	public Claim permits(int permits) {
		return (permits == permits()) ? this : with(Waiter.permits(instance(), permits));
	}

	/**
	 * Gives the claim a place of its own among those that wait.
	 * @param fair whether to do so
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
	 * @param fenced whether to do so
	 * @return the claim with a token, or without
	 */
	public Claim fenced(boolean fenced) {
		return (fenced == this.fenced) ? this
				: new Claim(this.key, this.owner, this.waiter, this.lease, fenced, this.grant);
	}

	/**
	 * Lets the store grant the key.
	 * @param number the number of this attempt, 0 if that must not be done
	 * @return the claim with that number
	 */
	public Claim number(long number) {
		return with(new Grant(number, this.grant.lease, replaced()));
	}

	/**
	 * Claims the key for a shorter time if it is granted than if it is taken.
	 * @param lease for how long a grant lasts
	 * @return the claim with that lease of a grant
	 */
	public Claim grantLease(Duration lease) {
		return with(new Grant(number(), lease, replaced()));
	}

	/**
	 * Takes the place of other owners, if one of them owns the key.
	 * @param owners their tokens
	 * @return the claim that replaces them
	 */
	public Claim replacing(Set<String> owners) {
		return with(new Grant(number(), this.grant.lease, Set.copyOf(owners)));
	}

	private Claim with(Grant grant) {
		return new Claim(this.key, this.owner, this.waiter, this.lease, this.fenced, grant);
	}

}
