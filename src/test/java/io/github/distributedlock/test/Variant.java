package io.github.distributedlock.test;

import io.github.distributedlock.backend.redis.RedisLockSettings;
import io.github.distributedlock.backend.redis.RedisLockSettings.Atomicity;

/**
 * What tests of one server run on, if nobody says otherwise: the server that comes with
 * the tests, and whatever it allows. {@code -Dlock.variant.server=NAME} takes another of
 * the {@linkplain RedisServers servers}, and {@code -Dlock.variant.atomicity=NATIVE}
 * makes steps atomic in another way.
 */
public final class Variant {

	/** The name of the server. */
	public static final String SERVER = System.getProperty("lock.variant.server", RedisServers.EMBEDDED);

	/** The name of the property that says what makes steps atomic. */
	public static final String PROPERTY = "lock.variant.atomicity";

	/** What makes steps atomic. */
	public static final Atomicity ATOMICITY = Atomicity.valueOf(System.getProperty(PROPERTY, "AUTO"));

	private Variant() {
	}

	/**
	 * How locks are kept.
	 * @return the defaults, but for what makes steps atomic
	 */
	public static RedisLockSettings settings() {
		return RedisLockSettings.defaults().atomicity(ATOMICITY);
	}

	/** Whether each step is a script. */
	public static boolean isByScripts() {
		return ATOMICITY == Atomicity.AUTO || ATOMICITY == Atomicity.LUA;
	}

}
