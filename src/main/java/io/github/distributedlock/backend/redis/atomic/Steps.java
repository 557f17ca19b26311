package io.github.distributedlock.backend.redis.atomic;

import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.HandOverResult;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.backend.redis.wire.Link;
import io.github.distributedlock.backend.redis.wire.Values;
import org.jspecify.annotations.Nullable;

/**
 * The steps of {@link io.github.distributedlock.backend.LockBackend}, on a connection.
 * How each is made so that no other client can come between what must be one is up to the
 * implementation. All of them keep the same data in the same way, so that JVMs that do it
 * differently share locks.
 */
public interface Steps {

	/**
	 * Acquires, also what is its own or reserved for its instance, without registering if
	 * that fails.
	 * @param link the way to the server
	 * @param claim the claim
	 * @return the answer, {@code null} if there was none
	 */
	@Nullable AcquireResult acquire(Link link, Claim claim);

	/**
	 * Acquires a lock that is free, and else looks whose it is: two commands that every
	 * server has. A lock that is the claim's own already, or reserved for it, counts as
	 * busy here.
	 * @param link the way to the server
	 * @param name the lock's name
	 * @param claim the claim
	 * @param mayLook is asked before the second command, which is left out then
	 * @return the answer
	 */
	static AcquireResult acquireIfFree(Link link, byte[] name, Claim claim, BooleanSupplier mayLook) {
		if (Values.setIfAbsent(link, name, claim.owner(), claim.lease().toMillis())) {
			return AcquireResult.ACQUIRED;
		}
		return mayLook.getAsBoolean() ? AcquireResult.busy(Values.holder(link, name)) : AcquireResult.BUSY;
	}

	@Nullable AcquireResult acquireOrRegister(Link link, Claim claim);

	/**
	 * Passes a key on inside its JVM.
	 * @param link the way to the server
	 * @param owner the owner so far
	 * @param next the claim of the next owner
	 * @param yields whether waiters come first
	 * @param registers whether the next one is to wait if it does not get the key
	 * @return the answer, {@code null} if there was none
	 */
	@Nullable HandOverResult pass(Link link, String owner, Claim next, boolean yields, boolean registers);

	boolean release(Link link, String key, String owner);

	/**
	 * Acquires all keys in one step, or none.
	 * @param link the way to the server
	 * @param claims the claims of one owner, all of one slot in a cluster
	 * @return whether they are acquired, {@code false} if one is busy
	 */
	default boolean acquireAll(Link link, List<Claim> claims) {
		throw LockBackendException.of("Several locks take several steps here")
			.retryable(true)
			.notCarriedOut(true)
			.build();
	}

	default List<Boolean> releaseAll(Link link, List<String> keys, String owner) {
		return keys.stream().map((key) -> release(link, key, owner)).toList();
	}

	/**
	 * Ends a registration.
	 * @param link the way to the server
	 * @param key the user's key
	 * @param waiter the waiter
	 * @param owners those that may have been granted the key, and do not want it
	 */
	void withdraw(Link link, String key, Waiter waiter, Set<String> owners);

	/**
	 * Undoes a claim that may have been carried out.
	 * @param link the way to the server
	 * @param claim the claim
	 */
	default void forget(Link link, Claim claim) {
		release(link, claim.key(), claim.owner());
	}

	/**
	 * Whether a released lock is granted.
	 * @return {@code false} if it is only reserved
	 */
	default boolean grants() {
		return false;
	}

	/**
	 * Shares a lock with others from now on.
	 * @param link the way to the server
	 * @param key the user's key
	 * @param owner who has it
	 * @return whether the owner has it
	 */
	default boolean downgrade(Link link, String key, String owner) {
		throw LuaOnly.refusal(key, LockMode.SHARED, false);
	}

	boolean leaveToExpire(Link link, String key, String owner, long restMillis);

	/**
	 * Reads what is known of a key, and changes nothing.
	 * @param link the way to the server
	 * @param key the user's key
	 * @return the status, {@code null} if there was no answer
	 */
	@Nullable LockStatus inspect(Link link, String key);

	/**
	 * Renews leases.
	 * @param link the way to the server
	 * @param claims the claims, all of one master
	 * @return for each claim, in order, whether its owner owns the key
	 */
	List<Boolean> renew(Link link, List<Claim> claims);

}
