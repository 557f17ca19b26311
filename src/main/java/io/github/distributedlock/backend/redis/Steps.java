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
import io.github.distributedlock.backend.redis.internal.Link;
import org.jspecify.annotations.Nullable;

/**
 * The steps of {@link io.github.distributedlock.backend.LockBackend} on a link. One of
 * the ways of {@link Atomicity} keeps other clients out of the part that must be atomic.
 * All ways keep the same data in the same form, so that JVMs that use different ways
 * share locks.
 */
interface Steps {

	/** The features that steps without scripts offer. */
	Set<LockFeature> WITHOUT_SCRIPTS = Set.of(LockFeature.FENCING);

	Atomicity atomicity();

	/**
	 * Returns the way in a word or two, for the log.
	 */
	default String description() {
		return atomicity().text();
	}

	/**
	 * Sends each command of the steps except notifications, without an effect. Fails if
	 * the server refuses a command.
	 * @param key a key that is not in use
	 */
	void probe(Link link, String key);

	/**
	 * Returns the steps for keys whose slot moves, and which are at two masters of a
	 * cluster: the cluster refuses scripts with several keys until the slot has moved.
	 * {@code null} if these steps have no substitute.
	 */
	default @Nullable Steps whileSlotMoves() {
		return null;
	}

	/**
	 * Returns whether a released lock is granted.
	 * @return {@code false} if a released lock is only reserved
	 */
	default boolean grants() {
		return false;
	}

	/**
	 * Returns whether the server lets a step renew or release several keys at once.
	 */
	default boolean takesSeveral() {
		return false;
	}

	/**
	 * Acquires a lock that is free, that the claim's owner has already, or that is
	 * reserved for the claim's waiter.
	 * @param registers whether the claim's waiter is registered if the lock is busy
	 */
	AcquireResult acquire(Link link, Claim claim, boolean registers);

	/**
	 * Passes a key on inside its JVM.
	 * @param owner the present owner
	 * @param next the claim of the next owner
	 * @param yields whether waiters come first
	 * @param registers whether the waiter of the next claim is registered if the next
	 * owner does not get the key
	 */
	HandOverResult pass(Link link, String owner, Claim next, boolean yields, boolean registers);

	boolean release(Link link, String key, String owner);

	/**
	 * Releases keys, in one step if the steps {@linkplain #takesSeveral() can}.
	 * @return for each key, in order, whether the owner had the key
	 */
	default List<Boolean> releaseAll(Link link, List<String> keys, String owner) {
		return keys.stream().map((key) -> release(link, key, owner)).toList();
	}

	/**
	 * Ends a registration.
	 * @param owners the owners that the key may have been granted to, and that do not
	 * want the key
	 * @return whether there was an answer
	 */
	boolean withdraw(Link link, String key, Waiter waiter, Set<String> owners);

	/**
	 * Undoes a claim that may have been carried out.
	 * @return whether the claim's owner had the lock
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
	 * @return for each renewal, in order, whether the owner owns the key
	 */
	List<Boolean> renew(Link link, List<Renewal> renewals);

	/**
	 * Acquires a lock that is free, and otherwise looks who has the lock: two commands
	 * that every server has. A lock that the claim's owner has already, or that is
	 * reserved for the claim's waiter, counts as busy here.
	 * @param mayLook is asked before the second command, which is not sent if the answer
	 * is {@code false}
	 */
	static AcquireResult acquireIfFree(Link link, byte[] name, Claim claim, BooleanSupplier mayLook) {
		if (Values.setIfAbsent(link, name, claim.owner(), claim.lease().toMillis())) {
			return AcquireResult.ACQUIRED;
		}
		return mayLook.getAsBoolean() ? AcquireResult.busy(Values.holder(link, name)) : AcquireResult.BUSY;
	}

	/**
	 * Refuses features that steps without scripts do not offer. Another client could come
	 * between several commands, so such steps can neither keep readers and writers apart,
	 * nor keep an order.
	 * @param taken the features that a request or claim takes
	 */
	static void requireScripts(String key, Set<LockFeature> taken) {
		for (LockFeature feature : taken) {
			if (!WITHOUT_SCRIPTS.contains(feature)) {
				throw LockBackendException
					.of("Lock '" + LockException.printable(key) + "' was requested as " + feature.word()
							+ ", which takes scripts (Lua), and those are not used on this server")
					.remedy("allow EVALSHA and EVAL to the user of the connection, and leave"
							+ " distributed-lock.redis.atomicity at auto or set it to lua")
					.withoutEffect(true)
					.build();
			}
		}
	}

}
