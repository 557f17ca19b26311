package io.github.distributedlock.backend.redis;

import java.util.List;

import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.backend.redis.internal.Command;
import io.github.distributedlock.backend.redis.internal.Command.Verb;
import io.github.distributedlock.backend.redis.internal.Link;
import io.github.distributedlock.backend.redis.internal.OwnConnections;
import io.github.distributedlock.backend.redis.internal.RedisRefusal;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The waiters of a key, oldest first, kept by plain commands. Readers and fair requests
 * of JVMs that use scripts may be among the waiters.
 */
final class WaitingList {

	/**
	 * How long the registrations of a key outlive the last poll for the key, in
	 * milliseconds. Far above the poll interval, so that a slow JVM keeps its place.
	 */
	static final long TTL_MILLIS = 10_000;

	/**
	 * How long a released lock is kept for the waiter whose turn has come, in
	 * milliseconds.
	 */
	static final long RESERVATION_MILLIS = 500;

	private static final Logger logger = LoggerFactory.getLogger(WaitingList.class);

	private final KeyNames names;

	private final boolean publishes;

	private final boolean skipsDeaf;

	// In a cluster the number of receivers says nothing: a node counts only its own
	// clients. Elsewhere a waiter that did not hear is gone.
	WaitingList(OwnConnections connections, RedisLockSettings settings) {
		this.names = new KeyNames(settings.prefix());
		this.publishes = settings.signals() != Signals.NONE;
		this.skipsDeaf = this.publishes && !connections.cluster();
	}

	/**
	 * Registers a waiter behind all others. A waiter that is registered already keeps its
	 * place. Two waiters that come at the same time may share a place: nobody can tell
	 * that from one after the other.
	 */
	void add(Link link, String key, Waiter waiter) {
		byte[] name = this.names.waiters(key);
		List<Values.Scored> last = Values.scored(link, name, -1, -1);
		double place = last.isEmpty() ? 1 : last.get(0).score() + 1;
		// Both commands are sent together, so that the set neither stays for ever nor is
		// gone in between.
		link.call(Command.of(Verb.ZADD, name, "NX", place, LockCodec.text(waiter))
			.with(Command.of(Verb.PEXPIRE, name, TTL_MILLIS)));
	}

	/**
	 * Ends the registration of a waiter.
	 * @return whether the waiter was registered
	 */
	boolean remove(Link link, String key, Waiter waiter) {
		return link.number(Command.of(Verb.ZREM, this.names.waiters(key), LockCodec.text(waiter))) > 0;
	}

	/**
	 * Finds the oldest waiter.
	 * @return the waiter; {@code null} if nobody waits, or if the Redis key of the
	 * waiters holds something else: a lock can be released all the same
	 */
	@Nullable Waiter oldest(Link link, String key) {
		try {
			List<String> first = Values.members(link, this.names.waiters(key), 0, 0);
			return first.isEmpty() ? null : LockCodec.waiter(first.get(0));
		}
		catch (RuntimeException ex) {
			if (RedisRefusal.WRONGTYPE.isIn(ex)) {
				return null;
			}
			throw ex;
		}
	}

	/**
	 * Asks whether a waiter listens, by an empty message.
	 * @return {@code false} if the waiter certainly cannot hear
	 */
	boolean hears(Link link, String key, Waiter waiter) {
		return !this.skipsDeaf || publish(link, key, waiter, "");
	}

	/**
	 * Notifies a waiter that a key is reserved for that waiter.
	 * @return {@code false} if the waiter certainly cannot hear
	 */
	boolean wake(Link link, String key, Waiter waiter) {
		return !this.publishes || publish(link, key, waiter, LockCodec.text(waiter) + " " + key);
	}

	private boolean publish(Link link, String key, Waiter waiter, String message) {
		try {
			String channel = this.names.channels() + waiter.instance();
			long heard = link.number(Command.at(this.names.lock(key), Verb.PUBLISH, channel, message));
			return !this.skipsDeaf || heard > 0;
		}
		catch (RuntimeException ex) {
			// A failed PUBLISH says nothing about the receivers, and a waiter that is not
			// woken polls.
			logger.debug("Could not publish '{}' to {}", LockException.printable(message),
					LockException.printable(LockCodec.text(waiter)), ex);
			return true;
		}
	}

}
