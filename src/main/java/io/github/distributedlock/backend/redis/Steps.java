package io.github.distributedlock.backend.redis;

import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend.HandOverResult;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.backend.LockFeature;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.backend.redis.connection.Lanes;
import io.github.distributedlock.backend.redis.connection.Link;
import org.jspecify.annotations.Nullable;

/**
 * The steps of {@link io.github.distributedlock.backend.LockBackend} on a link. One of
 * the ways of {@link Atomicity} keeps other clients out of what must be atomic. All ways
 * keep the same data in the same form, so that JVMs that use different ways share locks.
 * An answer is {@code null} if there was none.
 */
interface Steps {

	/** What a request may take of steps without scripts. */
	Set<LockFeature> WITHOUT_SCRIPTS = Set.of(LockFeature.FENCING);

	Atomicity atomicity();

	/**
	 * The way in a word or two, for the log.
	 */
	default String description() {
		return atomicity().text();
	}

	/**
	 * The connections that the steps need.
	 */
	Lanes lanes();

	/**
	 * Sends all that the steps send but for notifications, without an effect. Fails if
	 * the server refuses anything.
	 * @param key a key that is not in use
	 */
	void probe(Link link, String key);

	/**
	 * What to use instead for keys that are at two masters of a cluster, as it refuses
	 * scripts of several keys until their slot has moved.
	 */
	default @Nullable Steps whileSlotMoves() {
		return null;
	}

	/**
	 * Whether a released lock is granted.
	 * @return {@code false} if it is only reserved
	 */
	default boolean grants() {
		return false;
	}

	/**
	 * Whether the server lets a step renew or release several keys at once.
	 */
	default boolean takesSeveral() {
		return false;
	}

	/**
	 * Acquires, also what is its own or reserved for its instance.
	 * @param registers whether the claim's waiter is registered if that fails
	 */
	@Nullable AcquireResult acquire(Link link, Claim claim, boolean registers);

	/**
	 * Passes a key on inside its JVM.
	 * @param owner the owner so far
	 * @param next the claim of the next owner
	 * @param yields whether waiters come first
	 * @param registers whether the next one is to wait if it does not get the key
	 */
	@Nullable HandOverResult pass(Link link, String owner, Claim next, boolean yields, boolean registers);

	boolean release(Link link, String key, String owner);

	/**
	 * Releases keys in one step.
	 * @return for each, in order, whether its owner had it; {@code null} if that is not
	 * possible
	 */
	default @Nullable List<Boolean> releaseAll(Link link, List<String> keys, String owner) {
		return null;
	}

	/**
	 * Ends a registration.
	 * @param owners those that may have been granted the key, and do not want it
	 * @return whether there was an answer
	 */
	boolean withdraw(Link link, String key, Waiter waiter, Set<String> owners);

	/**
	 * Undoes a claim that may have been carried out.
	 * @return whether its owner had the lock
	 */
	default boolean forget(Link link, Claim claim) {
		return release(link, claim.key(), claim.owner());
	}

	default boolean downgrade(Link link, String key, String owner) {
		requireScripts(key, Set.of(LockFeature.SHARED));
		return false;
	}

	boolean leaveToExpire(Link link, String key, String owner, long parkMillis);

	/**
	 * Renews leases.
	 * @param renewals the renewals, all of one master
	 * @return for each, in order, whether its owner owns the key
	 */
	List<Boolean> renew(Link link, List<Renewal> renewals);

	/**
	 * Acquires a lock that is free, and else looks whose it is: two commands that every
	 * server has. A lock that is the claim's own already, or reserved for it, counts as
	 * busy here.
	 * @param mayLook is asked before the second command, which is left out then
	 */
	static AcquireResult acquireIfFree(Link link, byte[] name, Claim claim, BooleanSupplier mayLook) {
		if (Values.setIfAbsent(link, name, claim.owner(), claim.lease().toMillis())) {
			return AcquireResult.ACQUIRED;
		}
		return mayLook.getAsBoolean() ? AcquireResult.busy(Values.holder(link, name)) : AcquireResult.BUSY;
	}

	/**
	 * Refuses what steps without scripts cannot do: several commands one after another,
	 * between which another client could come, cannot keep readers and writers apart, nor
	 * an order.
	 * @param taken what a request or claim takes
	 */
	static void requireScripts(String key, Set<LockFeature> taken) {
		for (LockFeature feature : taken) {
			if (!WITHOUT_SCRIPTS.contains(feature)) {
				throw LockBackendException
					.of("Lock '" + LockException.printable(key) + "' was requested as " + feature.word()
							+ ", which takes scripts (Lua), and those are not used on this server")
					.remedy("allow EVALSHA and EVAL to the user of the connection, and leave"
							+ " distributed-lock.redis.atomicity at auto or set it to lua")
					.notCarriedOut(true)
					.build();
			}
		}
	}

}
