package io.github.distributedlock;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * A lock that was acquired, until {@link #close()}.
 * <p>
 * Safe for use by many threads. A handle is bound to the thread that acquired it: it is
 * {@linkplain #current() current} there, and whatever that thread runs next re-enters the
 * lock until the handle is closed. One that is to be closed by another thread, as that of
 * a future or of a reactive result, is therefore requested as
 * {@linkplain LockRequest#detached(boolean) detached}; else the next task of a pooled
 * thread holds the lock together with the one that it was acquired for.
 * <p>
 * A hold can be <em>lost</em> while the handle is open: its lease ran out, because the
 * store could not be reached in time or because it was fixed. From then on
 * {@link #isHeld()} is false. That a lease ends is noticed locally before the store can
 * give the lock to somebody else; that the key was deleted, when the store is asked.
 *
 * @since 1.0
 */
public interface LockHandle extends AutoCloseable {

	/**
	 * The innermost open lock of the calling thread: of the annotated method or the
	 * {@code acquire} that it is in. Neither a closed handle nor, unless it is bound, one
	 * of a {@linkplain LockRequest#detached(boolean) detached} request, nor one of an
	 * engine that is closed. In a reactive chain, that of the chain where
	 * context-propagation restores thread-locals; {@code reactive.LockContext} has it
	 * everywhere.
	 * @return the handle, or empty if the thread is in no lock
	 * @see CurrentLock#bind(LockHandle)
	 */
	static Optional<LockHandle> current() {
		return CurrentLock.innermost();
	}

	/**
	 * The keys that this handle holds, in the order in which they were acquired.
	 * @return the keys, without duplicates
	 */
	List<String> keys();

	/**
	 * The owner token under which the store knows this hold:
	 * {@code app@host/pid#random:n}. It is new each time that the key is acquired from
	 * the store. A hold that another of this JVM has handed the key to, without asking
	 * the store, has the token of that one, as does one that re-enters.
	 * @return the owner token
	 */
	String owner();

	/**
	 * A number that grows with each acquisition of the key, for a resource that refuses
	 * writes with an older one: {@code UPDATE … SET …, token = ? WHERE … AND token < ?}.
	 * It is never less than the store's time in microseconds, so that it does not go back
	 * when the store loses its data.
	 * @return the fencing token, or empty unless the lock was acquired by a
	 * {@linkplain LockRequest#fenced(boolean) fenced} request
	 */
	OptionalLong fencingToken();

	/**
	 * Whether the lock is still held, as far as its lease says. Local and monotonic: no
	 * I/O, and once false it stays so. A key that was deleted is noticed when the store
	 * is asked, at the next renewal.
	 * @return {@code false} after {@link #close()} and after a loss
	 */
	boolean isHeld();

	/**
	 * Whether {@link #close()} was called; a lock that was lost is not closed by that.
	 * @return {@code true} from the beginning of the first call on
	 */
	boolean isClosed();

	/**
	 * For how long the lock is certainly held if nothing renews it. Local, no I/O.
	 * @return the time left, zero if it is not {@linkplain #isHeld() held}
	 */
	Duration remaining();

	/**
	 * Returns if the lock is still {@linkplain #isHeld() held}: the guard to put before a
	 * step that must not run without it.
	 * @throws LockLostException if the lock was lost
	 * @throws IllegalStateException if this handle is closed
	 */
	void checkHeld();

	/**
	 * Makes the lease last at least the given time from now. Never shortens it: if that
	 * much is left already, nothing is sent.
	 * @param lease the time from now, at least 100 milliseconds
	 * @return {@code false} if the lock is not held any more
	 * @throws LockBackendException if the store failed; count on the lease as it was
	 * @throws IllegalStateException if this handle is closed
	 * @throws IllegalArgumentException if the time is out of range, or past the
	 * {@linkplain LockRequest#maxHoldTime(Duration) longest hold}
	 */
	boolean extend(Duration lease);

	/**
	 * Registers an action that runs once if the lock is lost while this handle is open,
	 * on a thread for such actions, or at once on the calling thread if it is lost
	 * already. It may block: at most other such actions wait for it, where the
	 * application has given the engine few threads for them. What the action throws is
	 * logged, and so is that it has been running for 10 seconds.
	 * @param action what to run
	 * @return this handle
	 */
	LockHandle onLost(Runnable action);

	/**
	 * As {@link #onLost(Runnable)}, but the executor says where the action runs, also if
	 * the lock is lost already. With {@code Runnable::run} it runs on the thread that
	 * tells of this loss, before anything else of the application can delay it.
	 * @param action what to run
	 * @param executor what runs it
	 * @return this handle
	 */
	default LockHandle onLost(Runnable action, Executor executor) {
		return onLost(() -> executor.execute(action));
	}

	/**
	 * Releases the lock as {@link #close()} does, and says whether it was held until now,
	 * as far as this JVM knows: whether everything that was done under it was done by its
	 * only holder. For one that re-entered the lock, which stays held, that is said of
	 * the moment of the call.
	 * <p>
	 * The store is asked, unless the key is handed to another request of this JVM that
	 * waits for it. Then nothing is known of a key that was deleted since the last
	 * renewal, and this returns {@code true}. The next command for the key notices it: a
	 * renewal, a release that is not a hand-over, or the first hand-over after
	 * {@code distributed-lock.local-slice}. {@link LockEvent.Lost} then names the hold
	 * that has the key, or had it last.
	 * <p>
	 * Only the first call of this, {@link #close()} and {@link #closeAsync()} has an
	 * effect. On a handle that is closed already nothing happens, and {@code false} says
	 * that it was not held until this call: take the answer from the first one.
	 * <p>
	 * What is not of this library may inherit this method, which asks {@link #isHeld()}
	 * and then calls {@link #close()}.
	 * @return {@code false} if the lock, or that of one of several keys, was lost before,
	 * or the handle was closed, or the release took longer than what was left of the
	 * lease and the store answered that the key is not ours. {@code true} also if the
	 * release could not be reported to the store now: the lock was held, and the release
	 * is retried in the background
	 */
	default boolean release() {
		boolean held = isHeld();
		close();
		return held;
	}

	/**
	 * Releases the lock. Only the first call has an effect; from any thread; a no-op for
	 * the store after a loss. If it is still bound to another thread, which is logged
	 * once as a warning, it ceases to be current there as well. Never throws for a store
	 * that is down: the release is then retried in the background until the lease has run
	 * out.
	 * @see #release()
	 */
	@Override
	void close();

	/**
	 * Releases the lock as {@link #close()} does, but on a thread of the library, for a
	 * thread that must not block, such as an event loop. The handle is closed when this
	 * returns. Only the first call of either has an effect; the future of a later one is
	 * complete already.
	 * <p>
	 * What is not of this library may inherit this method, which calls {@link #close()}
	 * on the calling thread.
	 * @return a future that completes when the lock has been released, or when its
	 * release was left to the background since the store is down: not exceptionally. What
	 * depends on it may block.
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
	 * Closes a handle under which nothing has run, and waits for nothing. No minimum hold
	 * time and no expiry keeps the keys busy, since nobody has used the lock.
	 * <p>
	 * What is not of this library may inherit this method, which calls
	 * {@link #closeAsync()}.
	 */
	default void undo() {
		closeAsync();
	}

}
