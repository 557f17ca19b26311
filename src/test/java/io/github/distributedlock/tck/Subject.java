package io.github.distributedlock.tck;

import java.util.Set;

import io.github.distributedlock.backend.DowngradableLocks;
import io.github.distributedlock.backend.GrantingQueue;
import io.github.distributedlock.backend.Inspectable;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.MultiKeyLocks;
import io.github.distributedlock.backend.OneStepHandOver;
import io.github.distributedlock.backend.ReleaseNotifications;
import io.github.distributedlock.backend.WaiterQueue;

/**
 * The backend under test, with all that one may add. A test that uses what the backend
 * does not add is aborted there, so that the report says what was skipped and why.
 */
interface Subject extends LockBackend, GrantingQueue, ReleaseNotifications, OneStepHandOver, MultiKeyLocks,
		DowngradableLocks, Inspectable {

	/**
	 * All interfaces that a backend may add.
	 */
	Set<Class<?>> CAPABILITIES = Set.of(WaiterQueue.class, GrantingQueue.class, ReleaseNotifications.class,
			OneStepHandOver.class, MultiKeyLocks.class, DowngradableLocks.class, Inspectable.class);

	/**
	 * Whether the backend adds an interface.
	 * @param capability one of {@link #CAPABILITIES}
	 */
	boolean adds(Class<?> capability);

}
