package io.github.distributedlock;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

import io.github.distributedlock.internal.Binding;

/**
 * An acquired lock, until {@link #close()}.
 * <p>
 * A handle is safe for use by many threads. A handle is bound to the acquiring thread:
 * the handle is {@linkplain #current() current} there, and all code that the thread runs
 * re-enters the lock until the handle is closed. A handle that another thread closes, as
 * with a future or a reactive result, therefore needs a
 * {@linkplain LockRequest#detached(boolean) detached} request. Otherwise the next task of
 * a pooled thread holds the lock together with the task that acquired the lock.
 * <p>
 * A hold can be <em>lost</em> while the handle is open: the lease has run out, because
 * the store could not be reached in time or because the lease was fixed, or the key was
 * deleted in the store. From then on {@link #isHeld()} is false. This JVM notices the end
 * of a lease by the local clock, before the store can give the lock to another owner.
 * This JVM notices a deleted key only when the store is asked.
 *
 * @since 1.0
 */
public interface LockHandle extends AutoCloseable {

	/**
	 * Returns the innermost open lock of the calling thread: the lock of the annotated
	 * method or the {@code acquire} that encloses the call. The current handle is never
	 * closed, and never of a closed engine. A handle of a
	 * {@linkplain LockRequest#detached(boolean) detached} request is current only where
	 * the handle was bound. In a reactive chain, this method returns the handle of the
	 * chain where context-propagation restores thread-locals;
	 * {@code reactive.LockContext} returns that handle everywhere.
	 * @return the handle, or empty if the thread is inside no lock
	 * @see CurrentLock#bind(LockHandle)
	 */
	static Optional<LockHandle> current() {
		return Binding.innermost();
	}

	/**
	 * Returns the keys that this handle holds, in the order in which the keys were
	 * acquired.
	 * @return the keys, without duplicates
	 */
	List<String> keys();

	/**
	 * Returns the owner token under which the store knows this hold:
	 * {@code app@host/pid#random:n}. Each acquisition of the key from the store has a new
	 * token. If the previous hold of this JVM hands the key over without asking the
	 * store, the next hold has the same token. A handle that re-enters a lock has the
	 * token of that lock.
	 * @return the owner token
	 */
	String owner();

	/**
	 * Returns the fencing token: a number that grows with each acquisition of the key. A
	 * resource uses the token to refuse writes with an older token:
	 * {@code UPDATE … SET …, token = ? WHERE … AND token < ?}. The token is never less
	 * than the store's time in microseconds, so that tokens keep growing when the store
	 * loses its data.
	 * @return the fencing token, or empty unless the lock was acquired by a
	 * {@linkplain LockRequest#fenced(boolean) fenced} request
	 */
	OptionalLong fencingToken();

	/**
	 * Returns whether the lock is still held, according to the local record of the lease.
	 * The call does no I/O. Once {@code false}, the answer stays {@code false}. A deleted
	 * key is noticed when the store is asked, at the next renewal.
	 * @return {@code false} after {@link #close()} and after a loss
	 */
	boolean isHeld();

	/**
	 * Returns whether {@link #close()} was called. A loss of the lock does not close the
	 * handle.
	 * @return {@code true} from the beginning of the first call on
	 */
	boolean isClosed();

	/**
	 * Returns for how long the lock is certainly held if nothing renews the lease. The
	 * call does no I/O.
	 * @return the remaining time, zero if the lock is not {@linkplain #isHeld() held}
	 */
	Duration remaining();

	/**
	 * Throws an exception unless the lock is still {@linkplain #isHeld() held}. Call this
	 * method before a step that must not run without the lock.
	 * @throws LockLostException if the lock was lost
	 * @throws IllegalStateException if this handle is closed
	 */
	void checkHeld();

	/**
	 * Makes the lease last at least the given time from now. This method never shortens
	 * the lease: if at least that much time is left, nothing is sent to the store.
	 * @param lease the time from now, at least 100 milliseconds
	 * @return {@code false} if the lock is no longer held
	 * @throws LockBackendException if the store failed; rely only on the lease as before
	 * the call
	 * @throws IllegalStateException if this handle is closed
	 * @throws IllegalArgumentException if the time is out of range, or would end after
	 * the {@linkplain LockRequest#maxHoldTime(Duration) longest hold}
	 */
	boolean extend(Duration lease);

	/**
	 * Registers an action that runs once if the lock is lost while this handle is open.
	 * The action runs on a thread for such actions or, if the lock is lost already, at
	 * once on the calling thread. The action may block: at most other such actions wait
	 * meanwhile, if the application has given the engine few threads for these actions.
	 * The engine logs what the action throws, and logs an action that has been running
	 * for 10 seconds.
	 * @param action the action to run
	 * @return this handle
	 */
	LockHandle onLost(Runnable action);

	/**
	 * Registers an action as {@link #onLost(Runnable)} does, but runs the action by an
	 * executor, also if the lock is lost already. With {@code Runnable::run}, the action
	 * runs on the thread that reports this loss, before other code of the application can
	 * delay the action.
	 * @param action the action to run
	 * @param executor the executor that runs the action
	 * @return this handle
	 */
	default LockHandle onLost(Runnable action, Executor executor) {
		return onLost(() -> executor.execute(action));
	}

	/**
	 * Releases the lock as {@link #close()} does, and returns whether the lock was held
	 * until now, as far as this JVM knows: {@code true} means that everything done under
	 * the lock was done by the only holder. If this handle re-entered the lock, the lock
	 * stays held, and the answer is about the moment of the call.
	 * <p>
	 * The store is asked, unless the key is handed over to another waiting request of
	 * this JVM. After a hand-over, a deletion of the key since the last renewal is not
	 * known yet, and this method returns {@code true}. The next command for the key
	 * notices the deletion: a renewal, a release that is not a hand-over, or the first
	 * hand-over after {@code distributed-lock.local-slice}. {@link LockEvent.Lost} then
	 * names the current or the last hold of the key.
	 * <p>
	 * Only the first call of this method, {@link #close()} or {@link #closeAsync()} has
	 * an effect. On a closed handle this method does nothing and returns {@code false},
	 * since the lock was not held until this call. So use the answer of the first call.
	 * <p>
	 * Implementations outside this library may inherit this method, which asks
	 * {@link #isHeld()} and then calls {@link #close()}.
	 * @return {@code false} if the lock, or the lock of one of several keys, was lost
	 * before, if the handle was closed before, or if the release took longer than the
	 * remaining lease and the store answered that the key is not ours. {@code true}
	 * otherwise, also if the release could not be reported to the store now: the lock was
	 * held, and the release is retried in the background
	 */
	default boolean release() {
		boolean held = isHeld();
		close();
		return held;
	}

	/**
	 * Releases the lock. Any thread may call this method; only the first call has an
	 * effect. After a loss, nothing changes in the store. If the handle is still bound to
	 * another thread, the handle ceases to be current there as well, and a warning is
	 * logged once. This method does not throw if the store is down: the release is then
	 * retried in the background until the lease has run out.
	 * @see #release()
	 */
	@Override
	void close();

	/**
	 * Releases the lock as {@link #close()} does, but on a thread of the library. A
	 * caller that must not block, such as an event loop, uses this method. The handle is
	 * closed when this method returns. Only the first call of {@link #close()} or this
	 * method has an effect; a later call of this method returns a completed future.
	 * <p>
	 * Implementations outside this library may inherit this method, which calls
	 * {@link #close()} on the calling thread.
	 * @return a future that completes when the lock has been released, or when the
	 * release was left to the background since the store is down. In neither case does
	 * the future complete exceptionally. Dependents of the future may block
	 */
	default CompletableFuture<Void> closeAsync() {
		try {
			close();
			return CompletableFuture.completedFuture(null);
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	/**
	 * Closes a handle under which no code has run, without waiting. The keys become free
	 * regardless of a minimum hold time or expiry on close, since nobody has used the
	 * lock.
	 * <p>
	 * Implementations outside this library may inherit this method, which calls
	 * {@link #closeAsync()}.
	 */
	default void undo() {
		closeAsync();
	}

}
