package io.github.distributedlock.annotation;

/**
 * The moment at which the lock of a method becomes free.
 *
 * @since 1.0
 */
public enum ReleaseOn {

	/**
	 * Releases the lock when the method returns or throws.
	 */
	RETURN,

	/**
	 * Lets the lock run out: after the method, the lease is neither renewed any more nor
	 * given back.
	 */
	EXPIRY

}
