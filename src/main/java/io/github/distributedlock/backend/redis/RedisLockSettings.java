package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.Objects;

import io.github.distributedlock.internal.DurationRange;

/**
 * The settings of a {@link RedisLockBackend}. Immutable: each wither returns new
 * settings, and throws an {@link IllegalArgumentException} for a value out of range.
 *
 * <pre class="code">
 * RedisLockSettings.defaults().prefix("shop").replicasToAck(1, Duration.ofMillis(300))
 * </pre>
 *
 * @param prefix the prefix of the names of the Redis keys
 * @param commandTimeout how long one command may take
 * @param replicasToAck how many replicas have to have a lock before the lock counts as
 * acquired, 0 if no replica is asked
 * @param replicaAckTimeout how long the replicas may take to acknowledge
 * @param atomicity the way that keeps others out between comparing and changing
 * @param signals how waiting requests learn that a lock was released
 * @since 1.0
 */
public record RedisLockSettings(String prefix, Duration commandTimeout, int replicasToAck, Duration replicaAckTimeout,
		Atomicity atomicity, Signals signals) {

	private static final RedisLockSettings DEFAULTS = new RedisLockSettings("lock", Duration.ofSeconds(1), 0,
			Duration.ofMillis(500), Atomicity.AUTO, Signals.AUTO);

	/**
	 * Checks the settings. Use {@link #defaults()} and the withers instead.
	 */
	public RedisLockSettings {
		new KeyNames(prefix);
		DurationRange.EXCHANGE.check("The command timeout", commandTimeout);
		if (replicasToAck < 0) {
			throw new IllegalArgumentException(
					"replicasToAck " + replicasToAck + " is out of range: at least 0, which waits for no replica");
		}
		if (replicasToAck > 0 && (!DurationRange.EXCHANGE.contains(replicaAckTimeout)
				|| replicaAckTimeout.compareTo(commandTimeout) >= 0)) {
			throw new IllegalArgumentException(
					"The time for replicas to acknowledge, " + DurationRange.text(replicaAckTimeout)
							+ ", has to be at least 1 ms and shorter than the command timeout, which is "
							+ DurationRange.text(commandTimeout));
		}
		Objects.requireNonNull(replicaAckTimeout, "replicaAckTimeout");
		Objects.requireNonNull(atomicity, "atomicity");
		Objects.requireNonNull(signals, "signals");
	}

	/**
	 * Returns the default settings.
	 * @return the defaults
	 */
	public static RedisLockSettings defaults() {
		return DEFAULTS;
	}

	/**
	 * Sets the prefix of the names of the Redis keys; {@code lock} by default.
	 * @param prefix the prefix: without braces and {@code ::}, not with a colon at its
	 * end, and not like the name of a lock's companion, such as {@code lock-waiters}
	 * @return the settings with that prefix
	 */
	public RedisLockSettings prefix(String prefix) {
		return new RedisLockSettings(prefix, this.commandTimeout, this.replicasToAck, this.replicaAckTimeout,
				this.atomicity, this.signals);
	}

	/**
	 * Sets how long one command may take; 1 second by default.
	 * @param timeout the timeout, from 1 millisecond to 1 minute
	 * @return the settings with that timeout
	 */
	public RedisLockSettings commandTimeout(Duration timeout) {
		return new RedisLockSettings(this.prefix, timeout, this.replicasToAck, this.replicaAckTimeout, this.atomicity,
				this.signals);
	}

	/**
	 * Sets how many replicas have to have a lock before the lock counts as acquired; by
	 * default 0, so that no replica is asked. If too few replicas acknowledge, the lock
	 * is released, and the request goes on as for a store that failed.
	 * @param replicas the number of replicas
	 * @param timeout how long the replicas may take, at least 1 millisecond and less than
	 * the command timeout; 500 milliseconds by default. Counts only if replicas are asked
	 * @return the settings with that number and timeout
	 */
	public RedisLockSettings replicasToAck(int replicas, Duration timeout) {
		return new RedisLockSettings(this.prefix, this.commandTimeout, replicas, timeout, this.atomicity, this.signals);
	}

	/**
	 * Sets the way that keeps others out between comparing and changing;
	 * {@link Atomicity#AUTO} by default.
	 * @param atomicity the way
	 * @return the settings with that way
	 */
	public RedisLockSettings atomicity(Atomicity atomicity) {
		return new RedisLockSettings(this.prefix, this.commandTimeout, this.replicasToAck, this.replicaAckTimeout,
				atomicity, this.signals);
	}

	/**
	 * Sets how waiting requests learn that a lock was released; {@link Signals#AUTO} by
	 * default. All instances that share the locks need the same value: an instance that
	 * polls gets a lock only while the lock is not reserved for an instance that is
	 * notified.
	 * @param signals the way
	 * @return the settings with that way
	 */
	public RedisLockSettings signals(Signals signals) {
		return new RedisLockSettings(this.prefix, this.commandTimeout, this.replicasToAck, this.replicaAckTimeout,
				this.atomicity, signals);
	}

}
