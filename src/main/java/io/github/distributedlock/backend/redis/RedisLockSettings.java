package io.github.distributedlock.backend.redis;

import java.time.Duration;

import io.github.distributedlock.backend.redis.atomic.Atomicity;
import io.github.distributedlock.backend.redis.wake.Signals;
import io.github.distributedlock.backend.redis.wire.KeyNames;

/**
 * How a {@link RedisLockBackend} keeps its locks.
 *
 * <pre class="code">
 * RedisLockSettings.defaults().prefix("shop").replicasToAck(1, Duration.ofMillis(300))
 * </pre>
 *
 * @param prefix what the names of the Redis keys begin with; without braces and
 * {@code ::}, not with a colon at its end, and not like the name of a lock's companion,
 * such as {@code lock-waiters}. Default {@value RedisLockBackend#DEFAULT_PREFIX}
 * @param commandTimeout how long one command may take, from 1 millisecond to 1 minute.
 * Default 1 second
 * @param replicasToAck how many replicas have to have a lock before it counts as
 * acquired. Default 0: none is asked
 * @param replicaAckTimeout how long they may take for that, at least 1 millisecond and
 * less than the command timeout. Counts only if replicas are asked
 * @param atomicity what keeps others out between comparing and changing. Default
 * {@link Atomicity#AUTO}
 * @param signals how those who wait learn that a lock is given back. Default
 * {@link Signals#AUTO}
 */
public record RedisLockSettings(String prefix, Duration commandTimeout, int replicasToAck, Duration replicaAckTimeout,
		Atomicity atomicity, Signals signals) {

	private static final Duration SHORTEST = Duration.ofMillis(1);

	private static final Duration LONGEST = Duration.ofMinutes(1);

	/**
	 * Checks the settings.
	 * @throws IllegalArgumentException if one of them is out of range
	 */
	public RedisLockSettings {
		new KeyNames(prefix);
		if (commandTimeout.compareTo(SHORTEST) < 0 || commandTimeout.compareTo(LONGEST) > 0) {
			throw new IllegalArgumentException(
					"The command timeout " + commandTimeout + " is out of range: at least 1 ms, at most 1 minute");
		}
		if (replicasToAck < 0) {
			throw new IllegalArgumentException(
					"It makes no sense to wait for " + replicasToAck + " replicas: use 0 to wait for none");
		}
		if (replicasToAck > 0
				&& (replicaAckTimeout.compareTo(SHORTEST) < 0 || replicaAckTimeout.compareTo(commandTimeout) >= 0)) {
			throw new IllegalArgumentException("The time for replicas to acknowledge, " + replicaAckTimeout
					+ ", has to be at least 1 ms and shorter than the command timeout, which is " + commandTimeout);
		}
	}

	/**
	 * The settings that hold if nothing else is said.
	 * @return the defaults
	 */
	public static RedisLockSettings defaults() {
		return new RedisLockSettings(RedisLockBackend.DEFAULT_PREFIX, RedisLockBackend.DEFAULT_COMMAND_TIMEOUT, 0,
				Duration.ZERO, Atomicity.AUTO, Signals.AUTO);
	}

	/**
	 * Sets what the names of the Redis keys begin with.
	 * @param prefix the prefix, as {@linkplain RedisLockSettings said above}
	 * @return the settings with it
	 */
	public RedisLockSettings prefix(String prefix) {
		return new RedisLockSettings(prefix, this.commandTimeout, this.replicasToAck, this.replicaAckTimeout,
				this.atomicity, this.signals);
	}

	/**
	 * Sets how long one command may take.
	 * @param timeout the timeout, from 1 millisecond to 1 minute
	 * @return the settings with it
	 */
	public RedisLockSettings commandTimeout(Duration timeout) {
		return new RedisLockSettings(this.prefix, timeout, this.replicasToAck, this.replicaAckTimeout, this.atomicity,
				this.signals);
	}

	/**
	 * Sets how many replicas have to have a lock before it counts as acquired. With too
	 * few it is given back, and the request goes on as it does for a store that failed.
	 * @param replicas how many
	 * @param timeout how long they may take, less than the command timeout
	 * @return the settings with it
	 */
	public RedisLockSettings replicasToAck(int replicas, Duration timeout) {
		return new RedisLockSettings(this.prefix, this.commandTimeout, replicas, timeout, this.atomicity, this.signals);
	}

	/**
	 * Sets what keeps others out between comparing and changing.
	 * @param atomicity one of the ways
	 * @return the settings with it
	 */
	public RedisLockSettings atomicity(Atomicity atomicity) {
		return new RedisLockSettings(this.prefix, this.commandTimeout, this.replicasToAck, this.replicaAckTimeout,
				atomicity, this.signals);
	}

	/**
	 * Sets how those who wait learn that a lock is given back. The same for all that
	 * share the locks, since who polls gets a lock only while nobody is woken for it.
	 * @param signals the way
	 * @return the settings with it
	 */
	public RedisLockSettings signals(Signals signals) {
		return new RedisLockSettings(this.prefix, this.commandTimeout, this.replicasToAck, this.replicaAckTimeout,
				this.atomicity, signals);
	}

}
