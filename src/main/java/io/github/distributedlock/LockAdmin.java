package io.github.distributedlock;

/**
 * Operations for the people who operate an application. The code that needs a lock uses
 * {@link DistributedLock} only. Each engine of this library is a {@code LockAdmin}. Safe
 * for use by many threads.
 *
 * @since 1.0
 */
public interface LockAdmin {

	/**
	 * Releases a lock by force: takes a key from an owner that has not released the key.
	 * The next waiter gets the key at once. So force a release only if the holder's work
	 * has certainly ended or does not matter any more.
	 * <p>
	 * The caller names the owner that {@link DistributedLock#inspect(String)} has shown.
	 * Nothing is changed unless that owner has the key now. If several owners have the
	 * key, as readers do, only that one loses the key. Within the local slice, a
	 * hand-over inside a JVM keeps the owner, so that the next request there may be the
	 * one that loses the key.
	 * <p>
	 * A holder that still runs is told by a {@linkplain LockEvent.Lost loss} with the
	 * reason {@link LockEvent.Lost.Reason#FORCED_RELEASE}: at once if the holder is in
	 * this JVM, otherwise with the next renewal, which comes after a third of the lease
	 * at the latest. A holder whose lease is not renewed is told by the next extension or
	 * the release. Until then the holder works beside the next one. Asks the store, and
	 * blocks for as long.
	 * @param key the key
	 * @param owner the owner token, as the store has shown the token
	 * @return whether that owner had the key until now; {@code false} if nothing was
	 * changed
	 * @throws LockBackendException if the store failed; whether the key was released is
	 * then not known, unless the exception is
	 * {@linkplain LockBackendException#isWithoutEffect() without effect}
	 * @throws UnsupportedOperationException if the store does not say who has a key
	 * @throws IllegalArgumentException if there can be no such key, or the owner is blank
	 */
	boolean forceRelease(String key, String owner);

}
