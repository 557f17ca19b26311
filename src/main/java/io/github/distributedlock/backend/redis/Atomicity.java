package io.github.distributedlock.backend.redis;

import java.util.Locale;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

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
	AUTO("", false, true, null),

	/**
	 * Each step is a script: one round trip.
	 */
	LUA(" +zscore +zremrangebyscore +eval +evalsha +hget +hset +hdel +hgetall", true, true, null),

	/**
	 * By a command of the server that compares and changes: of Redis 8.4, Valkey 8.1,
	 * Tair, or newer ones.
	 */
	NATIVE(" +delex", false, true, null), // Valkey 9: +delifeq

	/**
	 * By {@code WATCH} and {@code MULTI}, on every server, but not in a cluster.
	 */
	TRANSACTION(" +watch +unwatch +multi +exec", true, false, null),

	/**
	 * Compares, then changes, only while there is some time left, and only what names
	 * this instance. Not atomic: a command that arrives more than 250 ms late, or once
	 * its sender has given it up, can release, take or renew the lock of another owner.
	 * So can a waiter beside instances that use {@link #NATIVE} or {@link #TRANSACTION}.
	 * A lock with less than 250 ms to live is not released, but runs out; one that is
	 * released to a waiter that gives up just then is free half a second later. Never
	 * chosen but by this name, and not in a cluster, whose clients send commands again.
	 */
	BEST_EFFORT("", false, false,
			"a command that arrives more than " + CompareAndSet.BestEffort.MARGIN_MILLIS
					+ " ms late, or once its sender has given it up, can release, take or renew the lock of another"
					+ " owner; so can a waiter beside instances that use native or transaction");

	private static final String EACH = "+set +get +del +pttl +pexpire +zadd +zrem +zrange +time";

	/** Without these, waiters poll. */
	private static final String SIGNALS = " +publish +subscribe +ping";

	private final String rights;

	private final boolean everywhere;

	private final boolean clustered;

	private final @Nullable String risk;

	Atomicity(String rights, boolean everywhere, boolean clustered, @Nullable String risk) {
		this.rights = rights;
		this.everywhere = everywhere;
		this.clustered = clustered;
		this.risk = risk;
	}

	/**
	 * The rights without which it is not used, as in a rule of access: the trial of its
	 * steps sends each command.
	 */
	String required() {
		return EACH + this.rights;
	}

	/**
	 * The rights that it needs, whatever is done with locks.
	 */
	String commands() {
		return required() + SIGNALS;
	}

	/**
	 * Whether every server can do it, if it allows that.
	 */
	boolean isEverywhere() {
		return this.everywhere;
	}

	/**
	 * The settings that are possible, in a cluster or elsewhere.
	 */
	static Stream<Atomicity> possible(boolean cluster) {
		return Stream.of(values()).filter((way) -> way.clustered || !cluster);
	}

	/**
	 * What can happen if it is used, which is therefore never chosen but by its name.
	 */
	@Nullable String risk() {
		return this.risk;
	}

	/**
	 * Whether this setting lets another way be used.
	 */
	boolean includes(Atomicity way) {
		return this == way || (this == AUTO && way.risk == null);
	}

	/**
	 * The setting as it is written in a configuration.
	 */
	String text() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
