package io.github.distributedlock.backend.redis;

import java.util.function.Function;
import java.util.function.Supplier;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.redis.atomic.AtomicityCandidate;
import io.github.distributedlock.backend.redis.atomic.AtomicitySelector;
import io.github.distributedlock.backend.redis.atomic.ForeignKey;
import io.github.distributedlock.backend.redis.connection.Lane;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.RedisFailures;
import io.github.distributedlock.backend.redis.wire.RedisRefusal;
import org.jspecify.annotations.Nullable;

/**
 * Runs the steps of locks, and says of one that failed what it was and for which lock, by
 * the user's key and by the key in Redis. Safe for use by many threads.
 */
final class StepRunner {

	private final AtomicitySelector selector;

	private final KeyNames names;

	private final Runnable onRecovery;

	private volatile boolean failing;

	/**
	 * Creates it.
	 * @param onRecovery what to do when a step is answered after one that failed; does no
	 * I/O
	 */
	StepRunner(AtomicitySelector selector, KeyNames names, Runnable onRecovery) {
		this.selector = selector;
		this.names = names;
		this.onRecovery = onRecovery;
	}

	/**
	 * Runs a step on the connection for commands.
	 * @param what the step, as it goes on after "could not"
	 * @param key the user's key
	 * @param step the step
	 * @param <T> the type of its answer
	 * @return its answer
	 * @throws LockBackendException if it failed, or was not answered
	 */
	<T> T run(String what, String key, AtomicitySelector.Step<T> step) {
		return run(what, key, 0, (candidate) -> candidate.lanes().commands(), step);
	}

	/**
	 * Runs a step for several keys.
	 * @param key the first of the users' keys, which a failure names
	 * @param others how many more there are
	 * @param lane which connection to use
	 */
	<T> T run(String what, String key, int others, Function<AtomicityCandidate, Lane> lane,
			AtomicitySelector.Step<T> step) {
		return run(what, key, others, () -> this.selector.run(lane, step));
	}

	/**
	 * Runs what selects its connection by itself.
	 */
	<T> T run(String what, String key, Supplier<@Nullable T> steps) {
		return run(what, key, 0, steps);
	}

	private <T> T run(String what, String key, int others, Supplier<@Nullable T> steps) {
		try {
			@Nullable T answer = steps.get();
			if (answer == null) {
				throw LockBackendException.of("Redis gave no answer").retryable(true).build();
			}
			if (this.failing) {
				this.failing = false;
				this.onRecovery.run();
			}
			return answer;
		}
		catch (RuntimeException ex) {
			this.failing |= !RedisRefusal.WRONGTYPE.isIn(ex); // Which is of one key.
			throw RedisFailures.translate(what, describe(key, ex) + ((others > 0) ? " and " + others + " more" : ""),
					ex);
		}
	}

	private String describe(String key, RuntimeException failure) {
		byte[] name = RedisRefusal.WRONGTYPE.isIn(failure) ? ForeignKey.of(this.selector, this.names, key)
				: this.names.lock(key);
		return LockException.printable("lock '" + key + "' (Redis key '" + KeyNames.text(name) + "')");
	}

}
