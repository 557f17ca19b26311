package io.github.distributedlock.backend.redis.atomic;

/**
 * How a lock is changed only if it is what it is thought to be, so that no owner can
 * release or renew the lock of another.
 */
public enum Atomicity {

	/**
	 * The first of {@link #LUA}, {@link #NATIVE} and {@link #TRANSACTION} that the server
	 * allows.
	 */
	AUTO,

	/**
	 * Each step is a script: one round trip.
	 */
	LUA,

	/**
	 * By a command of the server that compares and changes: of Redis 8.4, Valkey 8.1,
	 * Tair, or newer ones.
	 */
	NATIVE,

	/**
	 * By {@code WATCH} and {@code MULTI}, on every server, but not in a cluster, and only
	 * by a connection factory of Spring Data's own.
	 */
	TRANSACTION,

	/**
	 * Compares, then changes, only while there is some time left. Not atomic: a command
	 * that is held up for longer than that can take away the lock of another owner. So
	 * can a release that meets a waiter which takes the reservation, where several
	 * instances want one key. Never chosen but by this name, and not in a cluster, whose
	 * clients send commands again, nor by a connection factory that is not Spring Data's
	 * own.
	 */
	BEST_EFFORT

}
