package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks Redis whether it allows what locks need, so that an application whose locks could
 * never work does not start. One that does not answer now keeps nobody from starting: the
 * first lock asks it again. It may take 5 seconds to answer, or a command timeout if that
 * is more.
 */
final class StartUpCheck {

	private static final Logger logger = LoggerFactory.getLogger(StartUpCheck.class);

	private final LockBackend backend;

	StartUpCheck(LockBackend backend) {
		this.backend = backend;
	}

	/**
	 * Asks, unless that was done before.
	 * @throws LockBackendException if the server has refused for good
	 */
	void run() {
		if (this.backend instanceof RedisLockBackend redis) {
			try {
				redis.atomicity();
			}
			catch (LockBackendException ex) {
				if (ex.isRefused() && !ex.isRetryable()) {
					throw ex;
				}
				logger.warn("{}. The application starts, and its first lock asks again", ex.getMessage());
			}
		}
	}

}
