package io.github.distributedlock.backend;

import java.util.List;

import io.github.distributedlock.LockBackendException;

/**
 * A {@link LockBackend} that acquires and releases several keys in one step. Without it
 * the engine does that key by key.
 */
public interface MultiKeyLocks {

	/**
	 * Whether one step covers these keys: it may take that they are on one node. Does no
	 * I/O.
	 * @param keys the user's keys, at most {@value LockBackend#MAX_BATCH_SIZE}
	 * @return {@code false} also if that is not known yet
	 */
	boolean coversInOneStep(List<String> keys);

	/**
	 * Makes the owner of exclusive claims the owner of all their keys, if all are free,
	 * or else of none. As {@link LockBackend#acquire}, the fast path of a request that
	 * knows of no other. Called only for keys that it {@linkplain #coversInOneStep
	 * covers}.
	 * @param claims the claims of one owner, neither fair nor fenced
	 * @return whether it is the owner now; {@code false} only if a key is busy
	 * @throws LockBackendException if the store failed. After a refusal that may pass the
	 * keys are asked for one by one.
	 */
	boolean acquireAll(List<Claim> claims);

	/**
	 * Gives several keys back, each as {@link LockBackend#release} does. Called only for
	 * keys that it {@linkplain #coversInOneStep covers}.
	 * @param keys the user's keys
	 * @param owner the owner token
	 * @return for each key, in order, whether the owner owned it
	 */
	List<Boolean> releaseAll(List<String> keys, String owner);

}
