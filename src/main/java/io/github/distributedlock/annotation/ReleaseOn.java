package io.github.distributedlock.annotation;

/**
 * When the lock of a method becomes free.
 *
 * @since 1.0
 */
public enum ReleaseOn {

	/**
	 * When the method returns or throws.
	 */
	RETURN,

	/**
	 * When its lease runs out: after the method it is not renewed any more, and not given
	 * back either.
	 */
	EXPIRY

}
