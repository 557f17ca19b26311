package io.github.distributedlock.backend.redis.atomic;

import java.util.List;
import java.util.function.BooleanSupplier;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.HandOverResult;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.backend.redis.wire.Values;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;

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
	 * @param connection the connection
	 * @param claim the claim
	 * @return the answer, {@code null} if there was none
	 */
	@Nullable AcquireResult acquire(RedisConnection connection, Claim claim);

	/**
	 * Acquires a lock that is free, and else looks whose it is: two commands that every
	 * server has. A lock that is the claim's own already, or reserved for it, counts as
	 * busy here.
	 * @param connection the connection
	 * @param name the lock's name
	 * @param claim the claim
	 * @param mayLook is asked before the second command, which is left out then
	 * @return the answer
	 */
	static AcquireResult acquireIfFree(RedisConnection connection, byte[] name, Claim claim, BooleanSupplier mayLook) {
		if (Values.setIfAbsent(connection, name, claim.owner(), claim.lease().toMillis())) {
			return AcquireResult.ACQUIRED;
		}
		return mayLook.getAsBoolean() ? AcquireResult.busy(Values.holder(connection, name)) : AcquireResult.BUSY;
	}

	@Nullable AcquireResult acquireOrRegister(RedisConnection connection, Claim claim);

	/**
	 * Passes a key on inside its JVM.
	 * @param connection the connection
	 * @param owner the owner so far
	 * @param next the claim of the next owner
	 * @param yields whether waiters come first
	 * @param registers whether the next one is to wait if it does not get the key
	 * @return the answer, {@code null} if there was none
	 */
	@Nullable HandOverResult pass(RedisConnection connection, String owner, Claim next, boolean yields, boolean registers);

	boolean release(RedisConnection connection, String key, String owner);

	/**
	 * Acquires all keys in one step, or none.
	 * @param connection the connection
	 * @param claims the claims of one owner, all of one slot in a cluster
	 * @return whether they are acquired, {@code false} if one is busy
	 */
	default boolean acquireAll(RedisConnection connection, List<Claim> claims) {
		throw LockBackendException.of("Several locks take several steps here")
			.retryable(true)
			.notCarriedOut(true)
			.build();
	}

	default List<Boolean> releaseAll(RedisConnection connection, List<String> keys, String owner) {
		return keys.stream().map((key) -> release(connection, key, owner)).toList();
	}

	void withdraw(RedisConnection connection, String key, Waiter waiter);

	boolean leaveToExpire(RedisConnection connection, String key, String owner, long restMillis);

	/**
	 * Reads what is known of a key, and changes nothing.
	 * @param connection the connection
	 * @param key the user's key
	 * @return the status, {@code null} if there was no answer
	 */
	@Nullable LockStatus inspect(RedisConnection connection, String key);

	/**
	 * Renews leases.
	 * @param connection the connection
	 * @param claims the claims, all of one master
	 * @return for each claim, in order, whether its owner owns the key
	 */
	List<Boolean> renew(RedisConnection connection, List<Claim> claims);

}
