package io.github.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.function.Supplier;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.aop.DistributedLockAdvisor;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * Asks Redis whether it allows what locks need, and what the annotations ask for, so that
 * an application whose locks could never work does not start. A server that does not
 * answer now does not keep the application from starting: the first lock asks it again.
 * It may take 5 seconds to answer, or a command timeout if that is more. Annotations of
 * beans that are made later are refused when they are called.
 */
final class StartUpCheck {

	private static final Logger logger = LoggerFactory.getLogger(StartUpCheck.class);

	private final LockBackend backend;

	private final Supplier<@Nullable DistributedLockAdvisor> advisor;

	private final Duration waitTime;

	private final Duration commandTimeout;

	StartUpCheck(LockBackend backend, Supplier<@Nullable DistributedLockAdvisor> advisor,
			DistributedLockProperties properties) {
		this.backend = backend;
		this.advisor = advisor;
		this.waitTime = properties.waitTime();
		this.commandTimeout = properties.redis().commandTimeout();
	}

	/**
	 * Asks, unless that was done before.
	 * @throws LockBackendException if the server has refused for good
	 * @throws io.github.distributedlock.LockDefinitionException if it can serve others,
	 * but not all annotated methods
	 */
	void run() {
		if (this.backend instanceof RedisLockBackend redis) {
			try {
				redis.atomicity();
			}
			catch (LockBackendException ex) {
				if (ex.isNotCarriedOut() && !ex.isRetryable()) {
					throw ex;
				}
				logger.warn("{}. The application starts, and its first lock asks again. Until Redis answers, a request"
						+ " fails after its wait time, {} unless it says otherwise; one that may not wait fails at once,"
						+ " or after the command timeout of {} if Redis is silent", ex.getMessage(),
						text(this.waitTime), text(this.commandTimeout));
			}
		}
		requireForAnnotations();
	}

	private void requireForAnnotations() {
		DistributedLockAdvisor found = this.advisor.get();
		try {
			if (found != null) {
				found.require(this.backend::checkSupport);
			}
		}
		catch (LockBackendException ex) {
			logger.debug("The annotations are not checked, since the store does not answer", ex);
		}
	}

	private static String text(Duration duration) {
		return DurationFormatterUtils.print(duration, DurationFormat.Style.COMPOSITE);
	}

}
