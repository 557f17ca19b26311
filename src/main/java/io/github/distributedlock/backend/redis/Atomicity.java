package io.github.distributedlock.backend.redis;

/**
 * How a lock is changed only if it is what it is thought to be, so that no owner can
 * release or renew the lock of another.
 *
 * @since 1.0
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
	 * By {@code WATCH} and {@code MULTI}, on every server, but not in a cluster.
	 */
	TRANSACTION,

	/**
	 * Compares, then changes, only while there is some time left, and only what names
	 * this instance. Not atomic: a command that arrives more than 250 ms late, or once
	 * its sender has given it up, can release, take or renew the lock of another owner.
	 * So can a waiter beside instances that use {@link #NATIVE} or {@link #TRANSACTION}.
	 * A lock with less than 250 ms to live is not released, but runs out; one that is
	 * released to a waiter that gives up just then is free half a second later. Never
	 * chosen but by this name, and not in a cluster, whose clients send commands again.
	 */
	BEST_EFFORT

}
