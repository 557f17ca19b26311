package io.github.distributedlock.backend.redis.atomic;

import java.time.Duration;
import java.util.Set;

import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.backend.redis.connection.RawCommands;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.LockCodec;
import io.github.distributedlock.backend.redis.wire.RedisRefusal;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.zset.Tuple;

/**
 * The waiters of a key, oldest first, by plain commands. Among them may be readers and
 * tickets of JVMs that use scripts.
 */
public final class WaitingList {

	/**
	 * How long the registrations of a key outlive the last poll for it. Far above the
	 * poll interval, so that a slow JVM keeps its place.
	 */
	static final long TTL_MILLIS = 10_000;

	/**
	 * How long a released lock is kept for the waiter whose turn it is.
	 */
	public static final Duration RESERVATION = Duration.ofMillis(500);

	private static final Logger logger = LoggerFactory.getLogger(WaitingList.class);

	private final KeyNames names;

	private final RawCommands raw;

	private final Publishing publishing;

	/**
	 * Creates it.
	 * @param names the names in Redis
	 * @param raw how to send commands together
	 * @param publishing whether waiters are told
	 */
	WaitingList(KeyNames names, RawCommands raw, Publishing publishing) {
		this.names = names;
		this.raw = raw;
		this.publishing = publishing;
	}

	/**
	 * Registers an instance behind those that wait. One that waits keeps its place. Two
	 * that come at the same time may share a place: no one can tell that from one after
	 * the other.
	 */
	void add(RedisConnection connection, String key, Waiter waiter) {
		byte[] name = this.names.waiters(key);
		Set<Tuple> last = connection.zSetCommands().zRangeWithScores(name, -1, -1);
		double place = (last == null || last.isEmpty()) ? 1 : last.iterator().next().getScore() + 1;
		this.raw.addExpiring(connection, name, place, KeyNames.bytes(LockCodec.text(waiter)), TTL_MILLIS);
	}

	/**
	 * Ends the registration of a waiter.
	 * @return whether it was registered
	 */
	boolean remove(RedisConnection connection, String key, Waiter waiter) {
		Long removed = connection.zSetCommands().zRem(this.names.waiters(key), KeyNames.bytes(LockCodec.text(waiter)));
		return removed != null && removed > 0;
	}

	/**
	 * Finds the oldest waiter.
	 * @return it; {@code null} if none waits, or if something else is kept in the place
	 * of the waiters: a lock can be released all the same
	 */
	@Nullable Waiter oldest(RedisConnection connection, String key) {
		try {
			Set<byte[]> first = connection.zSetCommands().zRange(this.names.waiters(key), 0, 0);
			return (first == null || first.isEmpty()) ? null : LockCodec.waiter(KeyNames.text(first.iterator().next()));
		}
		catch (RuntimeException ex) {
			if (RedisRefusal.WRONGTYPE.isIn(ex)) {
				return null;
			}
			throw ex;
		}
	}

	/**
	 * Tells a waiter that a key is reserved for it.
	 * @return {@code false} if it certainly cannot hear
	 */
	boolean wake(RedisConnection connection, String key, Waiter waiter) {
		if (this.publishing == Publishing.NOTHING) {
			return true; // It polls.
		}
		try {
			Long heard = connection.publish(KeyNames.bytes(this.names.channels() + waiter.instance()),
					KeyNames.bytes(LockCodec.text(waiter) + " " + key));
			return this.publishing != Publishing.ON_ONE_SERVER || heard == null || heard > 0;
		}
		catch (RuntimeException ex) {
			// This says nothing about the receivers; and a waiter that is not woken
			// polls.
			logger.debug("Could not wake {} for lock '{}'", LockException.printable(LockCodec.text(waiter)),
					LockException.printable(key), ex);
			return true;
		}
	}

}
