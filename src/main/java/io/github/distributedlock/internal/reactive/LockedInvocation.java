package io.github.distributedlock.internal.reactive;

import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.LockException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.OnLost;
import org.jspecify.annotations.Nullable;

/**
 * One call of a method with a reactive result, which each subscription makes anew. The
 * advice and the client in code implement this interface. Used by many threads.
 */
public interface LockedInvocation {

	/**
	 * Asks for the lock without blocking. Locks that the chain holds are re-entered, and
	 * none of the calling thread.
	 * @return the request: of a handle, or of an optional handle if a busy lock is no
	 * failure
	 */
	CompletableFuture<?> acquire();

	/**
	 * Returns the request that is made.
	 * @return the request
	 */
	LockRequest request();

	/**
	 * Runs the method, with the advice inside of the lock.
	 * @return the result of the method
	 * @throws Throwable the exception of the method
	 */
	@Nullable Object proceed() throws Throwable;

	/**
	 * Answers a call whose lock is busy, which is no failure.
	 * @return the result without the lock, {@code null} to complete without a value
	 */
	default @Nullable Object skip() {
		return null;
	}

	/**
	 * Answers a call whose lock could not be acquired.
	 * @param failure the reason
	 * @return the result of the fallback
	 * @throws Throwable the exception of the fallback, or the failure if no fallback
	 * handles the failure
	 */
	default @Nullable Object fallBack(LockException failure) throws Throwable {
		throw failure;
	}

	/**
	 * Checks a value that is to be passed on.
	 * @param value the value
	 * @throws IllegalStateException if the value outlives the lock
	 */
	void check(Object value);

	/**
	 * Returns the reaction to a loss of the lock: to end the subscription at once, to
	 * fail the call and with the call the transaction, or neither.
	 * @return the reaction
	 */
	OnLost onLost();

	/**
	 * Reports that the lock is held until a transaction has completed.
	 */
	default void joinsTransaction() {
	}

}
