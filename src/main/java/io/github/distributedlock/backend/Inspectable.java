package io.github.distributedlock.backend;

import io.github.distributedlock.LockStatus;

/**
 * A {@link LockBackend} that can be asked what it knows of a key. Without it
 * {@link io.github.distributedlock.DistributedLock#inspect DistributedLock.inspect} is
 * not supported.
 */
public interface Inspectable {

	/**
	 * Reads who has a key, and who waits for it. Changes nothing.
	 * @param key the user's key
	 * @return the status, as of one moment where the store can do that; not yet
	 * {@linkplain LockStatus#isHeldHere() held here}
	 */
	LockStatus inspect(String key);

}
