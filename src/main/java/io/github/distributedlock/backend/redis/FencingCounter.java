package io.github.distributedlock.backend.redis;

import java.time.Duration;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.redis.internal.Link;

import org.springframework.dao.OptimisticLockingFailureException;

/**
 * Gives fencing tokens by plain commands. Each token is greater than all tokens before,
 * and not less than the server's time in microseconds, so that tokens do not go back when
 * the last token is lost.
 *
 * @param names the names in Redis
 * @param compareAndSet the operation that sets a token only if nobody else has set one
 * since
 */
record FencingCounter(KeyNames names, CompareAndSet compareAndSet) {

	/**
	 * How long the last fencing token of a key is kept. After that, tokens begin at the
	 * server's time.
	 */
	static final long TTL_MILLIS = Duration.ofDays(1).toMillis();

	/**
	 * How often a token is tried for. Another owner takes a token meanwhile only if this
	 * owner has lost the lock already.
	 */
	private static final int ATTEMPTS = 10;

	// The limit below which scripts, whose numbers are doubles, add 1 without loss.
	private static final long LIMIT = 1L << 53;

	long next(Link link, String key) {
		byte[] name = this.names.fence(key);
		for (int i = 0; i < ATTEMPTS; i++) {
			String last = Values.get(link, name);
			long now = Values.micros(link, name);
			if (last != null && (!last.matches("\\d{1,16}") || Long.parseLong(last) >= LIMIT)) {
				throw unusable(this.names, key);
			}
			long token = (last != null) ? Math.max(Long.parseLong(last) + 1, now) : now;
			if (this.compareAndSet.set(link, name, last, String.valueOf(token), TTL_MILLIS)) {
				return token;
			}
		}
		throw new OptimisticLockingFailureException("others took a fencing token in each of " + ATTEMPTS + " attempts");
	}

	/**
	 * Returns the failure for a Redis key that holds something other than the last token.
	 * @param names the names in Redis
	 * @param key the user's key
	 * @return the exception to throw
	 */
	static LockBackendException unusable(KeyNames names, String key) {
		return LockBackendException
			.of("Lock '" + LockException.printable(key) + "' gets no fencing token: the Redis key '"
					+ LockException.printable(KeyNames.text(names.fence(key)))
					+ "' holds a string that is no token, which is a number below 2^53")
			.remedy("remove or rename it, or choose another key prefix; tokens then begin at the server's time")
			.withoutEffect(true)
			.build();
	}

}
