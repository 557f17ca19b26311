package io.github.distributedlock.backend.redis;

import java.util.Locale;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * The way in which a step compares the value of a lock and changes the value in one go,
 * so that no owner can release or renew the lock of another owner.
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
	 * Each step uses a command of the server that compares and changes. Redis 8.4, Valkey
	 * 8.1 and newer versions have such a command, and so has Tair.
	 */
	NATIVE(" +delex", false, true, null), // Valkey 9: +delifeq

	/**
	 * Each step uses {@code WATCH} and {@code MULTI}. Works on every server, but not in a
	 * cluster.
	 */
	TRANSACTION(" +watch +unwatch +multi +exec", true, false, null),

	/**
	 * Each step compares, and then changes, only while the lock has some time to live,
	 * and only values that name this instance. Not atomic: a command that arrives more
	 * than 250 ms late, or after the sender has given the command up, can release, take
	 * or renew the lock of another owner. A waiter can do the same beside instances that
	 * use {@link #NATIVE} or {@link #TRANSACTION}. A lock with less than 250 ms to live
	 * is not released, but runs out. A lock that is released to a waiter that gives up at
	 * that moment is free half a second later. Used only if asked for by this name, and
	 * not in a cluster, whose clients send commands again.
	 */
	BEST_EFFORT("", false, false,
			"a command that arrives more than " + Atomicity.MARGIN_MILLIS
					+ " ms late, or once its sender has given it up, can release, take or renew the lock of another"
					+ " owner; so can a waiter beside instances that use native or transaction");

	/**
	 * How long a key must have to live for {@link #BEST_EFFORT}, in milliseconds: half of
	 * a reservation, so that reservations can be taken.
	 */
	static final long MARGIN_MILLIS = 250;

	private static final String EACH = "+set +get +del +pttl +pexpire +zadd +zrem +zrange +time";

	/** The rights for notifications. Without these rights, waiters poll. */
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
	 * Returns the rights without which this way is not chosen, in the form of an access
	 * rule. The probe of the steps sends each of these commands.
	 */
	String required() {
		return EACH + this.rights;
	}

	/**
	 * Returns all rights that this way needs, those for notifications included.
	 */
	String commands() {
		return required() + SIGNALS;
	}

	/**
	 * Returns whether every server has the commands of this way, given the rights.
	 */
	boolean isEverywhere() {
		return this.everywhere;
	}

	/**
	 * Returns the settings that are possible in a cluster, or outside of one.
	 */
	static Stream<Atomicity> possible(boolean cluster) {
		return Stream.of(values()).filter((way) -> way.clustered || !cluster);
	}

	/**
	 * Returns what can go wrong with this way, or {@code null} if nothing can. A way with
	 * a risk is used only if asked for by name.
	 */
	@Nullable String risk() {
		return this.risk;
	}

	/**
	 * Returns whether this setting allows a way.
	 */
	boolean includes(Atomicity way) {
		return this == way || (this == AUTO && way.risk == null);
	}

	/**
	 * Returns the setting as written in a configuration.
	 */
	String text() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
