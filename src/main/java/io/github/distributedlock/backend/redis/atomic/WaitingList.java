package io.github.distributedlock.backend.redis.atomic;

import java.time.Duration;
import java.util.List;

import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.backend.redis.wire.Command.Verb;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.Link;
import io.github.distributedlock.backend.redis.wire.LockCodec;
import io.github.distributedlock.backend.redis.wire.RedisRefusal;
import io.github.distributedlock.backend.redis.wire.Values;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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

	private static final byte[] TTL = KeyNames.number(TTL_MILLIS);

	private static final byte[] NX = KeyNames.bytes("NX");

	/**
	 * How long a released lock is kept for the waiter whose turn it is.
	 */
	public static final Duration RESERVATION = Duration.ofMillis(500);

	private static final Logger logger = LoggerFactory.getLogger(WaitingList.class);

	private final KeyNames names;

	private final Publishing publishing;

	/**
	 * Creates it.
	 * @param names the names in Redis
	 * @param publishing whether waiters are told
	 */
	WaitingList(KeyNames names, Publishing publishing) {
		this.names = names;
		this.publishing = publishing;
	}

	/**
	 * Registers an instance behind those that wait. One that waits keeps its place. Two
	 * that come at the same time may share a place: no one can tell that from one after
	 * the other.
	 */
	void add(Link link, String key, Waiter waiter) {
		byte[] name = this.names.waiters(key);
		List<Values.Scored> last = Values.scored(link, name, -1, -1);
		double place = last.isEmpty() ? 1 : last.get(0).score() + 1;
		byte[] member = KeyNames.bytes(LockCodec.text(waiter));
		// Together, so that the set is not gone in between.
		link.call(List.of(Command.of(Verb.ZADD, name, NX, KeyNames.bytes(Double.toString(place)), member),
				Command.of(Verb.PEXPIRE, name, TTL)))
			.forEach(WaitingList::requireNoError);
	}

	private static void requireNoError(@Nullable Object reply) {
		if (reply instanceof RuntimeException error) {
			throw error;
		}
	}

	/**
	 * Ends the registration of a waiter.
	 * @return whether it was registered
	 */
	boolean remove(Link link, String key, Waiter waiter) {
		return link.number(Command.of(Verb.ZREM, this.names.waiters(key), KeyNames.bytes(LockCodec.text(waiter)))) > 0;
	}

	/**
	 * Finds the oldest waiter.
	 * @return it; {@code null} if none waits, or if something else is kept in the place
	 * of the waiters: a lock can be released all the same
	 */
	@Nullable Waiter oldest(Link link, String key) {
		try {
			List<byte[]> first = Values.members(link, this.names.waiters(key), 0, 0);
			return first.isEmpty() ? null : LockCodec.waiter(KeyNames.text(first.get(0)));
		}
		catch (RuntimeException ex) {
			if (RedisRefusal.WRONGTYPE.isIn(ex)) {
				return null;
			}
			throw ex;
		}
	}

	/**
	 * Asks whether a waiter listens, by a message that says nothing.
	 * @return {@code false} if it certainly cannot hear
	 */
	boolean hears(Link link, String key, Waiter waiter) {
		return this.publishing != Publishing.ON_ONE_SERVER || publish(link, key, waiter, "");
	}

	/**
	 * Tells a waiter that a key is reserved for it.
	 * @return {@code false} if it certainly cannot hear
	 */
	boolean wake(Link link, String key, Waiter waiter) {
		// Where nothing is published, it polls.
		return this.publishing == Publishing.NOTHING || publish(link, key, waiter, LockCodec.text(waiter) + " " + key);
	}

	private boolean publish(Link link, String key, Waiter waiter, String message) {
		try {
			byte[] channel = KeyNames.bytes(this.names.channels() + waiter.instance());
			long heard = link.number(Command.at(this.names.lock(key), Verb.PUBLISH, channel, KeyNames.bytes(message)));
			return this.publishing != Publishing.ON_ONE_SERVER || heard > 0;
		}
		catch (RuntimeException ex) {
			// This says nothing about the receivers; and a waiter that is not woken
			// polls.
			logger.debug("Could not publish '{}' to {}", LockException.printable(message),
					LockException.printable(LockCodec.text(waiter)), ex);
			return true;
		}
	}

}
