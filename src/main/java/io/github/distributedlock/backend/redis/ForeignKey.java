package io.github.distributedlock.backend.redis;

import java.util.List;

import org.springframework.data.redis.connection.RedisConnection;

/**
 * Finds which of a lock's keys is of a type that somebody else has given it. A server
 * that refuses a step of several keys does not say.
 */
final class ForeignKey {

	private ForeignKey() {
	}

	/**
	 * Asks for the companions of a lock.
	 * @param connection the connection
	 * @param names the names in Redis
	 * @param key the user's key
	 * @return the name of the companion that is of a foreign type; of the lock itself, if
	 * none is
	 */
	static byte[] of(RedisConnection connection, KeyNames names, String key) {
		for (byte[] set : List.of(names.waiters(key), names.liveness(key))) {
			if (isRefused(() -> connection.zSetCommands().zRange(set, 0, 0))) {
				return set;
			}
		}
		byte[] fence = names.fence(key);
		return isRefused(() -> connection.stringCommands().get(fence)) ? fence : names.lock(key);
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
