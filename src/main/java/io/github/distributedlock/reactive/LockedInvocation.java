package io.github.distributedlock.reactive;

import java.util.concurrent.Future;
import java.util.function.BiConsumer;

import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import org.jspecify.annotations.Nullable;

/**
 * One call of a method with a reactive result, which each subscription makes anew. No
 * API: it is what the advice of this library implements. Used by many threads.
 */
public interface LockedInvocation {

	/**
	 * Asks for the lock without blocking. What the chain holds is re-entered, and nothing
	 * of the calling thread.
	 * @param answer is told once, by any thread: the handle, the failure, or neither if
	 * the call is to be skipped
	 * @return the request; cancelling it withdraws it, and a handle that was not told
	 * then is given back
	 */
	Future<?> acquire(BiConsumer<@Nullable LockHandle, @Nullable Throwable> answer);

	/**
	 * Runs the method, with the advice inside of the lock.
	 * @return its result
	 * @throws Throwable what it throws
	 */
	@Nullable Object proceed() throws Throwable;

	/**
	 * Answers a call whose lock could not be acquired.
	 * @param failure why
	 * @return the result of the fallback
	 * @throws Throwable what it throws, or the failure if there is no fallback for it
	 */
	@Nullable Object fallBack(LockException failure) throws Throwable;

	/**
	 * Looks at a value that is to be passed on.
	 * @param value the value
	 * @throws IllegalStateException if it outlives the lock
	 */
	void check(Object value);

	/**
	 * Whether a loss ends the subscription at once.
	 * @return whether it does
	 */
	boolean endsOnLoss();

	/**
	 * Whether a loss fails the call, and with it the transaction.
	 * @return whether it does
	 */
	boolean lossFails();

	/**
	 * Takes note that the lock is held until a transaction has completed.
	 */
	void joinsTransaction();

	/**
	 * Tells of a loss as the annotation says. Throws nothing, whatever the handle does:
	 * the lock is yet to be given back.
	 * @param failure what the method failed with, {@code null} if it did not
	 * @param handle the handle, still open
	 * @return what the call fails with, {@code null} if it does not
	 */
	@Nullable Throwable outcome(@Nullable Throwable failure, LockHandle handle);

	/**
	 * The call for people.
	 * @return the annotation and the method
	 */
	@Override
	String toString();

}
