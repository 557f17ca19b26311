package io.github.distributedlock.engine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.engine.lease.HoldOptions;

/**
 * Checks requests before anything is sent for them, and fills in the defaults.
 */
final class Requests {

	private final LockBackend backend;

	private final Duration leaseTime;

	private final int maxKeyBytes;

	Requests(LockEngineBuilder settings) {
		this.backend = settings.backend;
		this.leaseTime = settings.watchdogTimeout;
		this.maxKeyBytes = settings.maxKeyBytes;
	}

	/**
	 * The keys in the order in which every JVM locks them, so that two requests cannot
	 * wait for each other.
	 */
	List<String> keysInOrder(LockRequest request) {
		List<String> keys = request.keys();
		if (keys.size() == 1) {
			requireNotTooLong(keys.get(0));
			return keys;
		}
		keys.forEach(this::requireNotTooLong);
		return keys.stream().sorted().toList();
	}

	HoldOptions options(LockRequest request) {
		return HoldOptions.of(request, this.leaseTime);
	}

	/**
	 * Refuses what the store cannot do, which may have to be asked. A request that may
	 * wait is not refused because the store could not be asked: it asks again, by
	 * acquiring.
	 */
	void requireSupported(LockRequest request, Wait wait) {
		boolean shared = request.mode() == LockMode.SHARED;
		if (!shared && !request.fair() && !request.fenced()) {
			return;
		}
		try {
			this.backend.checkSupport(request);
		}
		catch (LockBackendException ex) {
			if (!ex.isRetryable() || !wait.isAllowed()) {
				throw ex;
			}
		}
	}

	private void requireNotTooLong(String key) {
		// No character takes more than three bytes.
		if (key.length() > this.maxKeyBytes / 3) {
			int bytes = key.getBytes(StandardCharsets.UTF_8).length;
			if (bytes > this.maxKeyBytes) {
				throw new IllegalArgumentException(
						"Lock key '" + LockException.printable(key.substring(0, Math.min(40, key.length()))) + "…' has "
								+ bytes + " bytes, but at most " + this.maxKeyBytes
								+ " are allowed. Lock by an identifier, not by content, or raise the engine's"
								+ " maxKeyBytes (distributed-lock.max-key-bytes)");
			}
		}
	}

}
