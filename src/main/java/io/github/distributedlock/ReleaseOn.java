package io.github.distributedlock;

/**
 * The moment at which a lock becomes free.
 *
 * @since 1.0
 */
public enum ReleaseOn {

	/**
	 * Releases the lock when the handle is closed. The handle of an annotated method is
	 * closed when the method returns or throws.
	 */
	CLOSE,

	/**
	 * Lets the lock run out: after the handle is closed, the lease is neither renewed any
	 * more nor given back.
	 */
	EXPIRY

}
