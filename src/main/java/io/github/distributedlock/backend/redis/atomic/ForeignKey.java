package io.github.distributedlock.backend.redis.atomic;

import java.util.List;

import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.backend.redis.wire.Command.Verb;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.Link;
import io.github.distributedlock.backend.redis.wire.RedisRefusal;
import io.github.distributedlock.backend.redis.wire.Values;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds which of a lock's keys is of a foreign type: something else than a lock is kept
 * there. A server that refuses a step of several keys does not say.
 */
public final class ForeignKey {

	private static final Logger logger = LoggerFactory.getLogger(ForeignKey.class);

	private ForeignKey() {
	}

	/**
	 * Asks for the companions of a lock.
	 * @param selector how to ask
	 * @param names the names in Redis
	 * @param key the user's key
	 * @return the name of the companion that is of a foreign type; of the lock itself, if
	 * none is, or that cannot be asked for
	 */
	public static byte[] of(AtomicitySelector selector, KeyNames names, String key) {
		byte[] name = null;
		try {
			name = selector.run((candidate) -> candidate.lanes().commands(),
					(steps, link) -> companion(link, names, key));
		}
		catch (RuntimeException ex) {
			logger.debug("Could not find out which key of lock '{}' is of a foreign type", LockException.printable(key),
					ex);
		}
		return (name != null) ? name : names.lock(key);
	}

	private static byte @Nullable [] companion(Link link, KeyNames names, String key) {
		for (byte[] set : List.of(names.waiters(key), names.liveness(key))) {
			if (isRefused(() -> Values.members(link, set, 0, 0))) {
				return set;
			}
		}
		byte[] fence = names.fence(key);
		return isRefused(() -> link.call(Command.of(Verb.GET, fence))) ? fence : null;
	}

	private static boolean isRefused(Runnable question) {
		try {
			question.run();
			return false;
		}
		catch (RuntimeException ex) {
			if (RedisRefusal.WRONGTYPE.isIn(ex)) {
				return true;
			}
			throw ex;
		}
	}

}
