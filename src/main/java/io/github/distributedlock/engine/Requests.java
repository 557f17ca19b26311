package io.github.distributedlock.engine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;

/**
 * Checks requests before any I/O, and fills in the defaults.
 */
final class Requests {

	private final Duration waitTime;

	private final Duration leaseTime;

	private final int maxKeyBytes;

	Requests(LockEngineBuilder settings) {
		this.waitTime = settings.waitTime;
		this.leaseTime = settings.leaseTime;
		this.maxKeyBytes = settings.maxKeyBytes;
	}

	Duration waitTime(LockRequest request) {
		Objects.requireNonNull(request, "request");
		Duration own = request.waitTime();
		return (own != null) ? own : this.waitTime;
	}

	/**
	 * The keys in the order in which every JVM locks them, so that two requests cannot
	 * wait for each other.
	 */
	List<String> keysInOrder(LockRequest request) {
		List<String> keys = request.keys();
		keys.forEach(this::requireNotTooLong);
		return (keys.size() == 1) ? keys : keys.stream().sorted().toList();
	}

	Terms terms(LockRequest request) {
		refuse(request, request.mode() == LockMode.SHARED, "mode SHARED");
		refuse(request, request.fair(), "fair");
		if (request.fenced() && request.keys().size() > 1) {
			throw new IllegalArgumentException(
					"Lock " + request.keys() + " was requested as fenced, but a fencing token"
							+ " is of one key. Request one key as fenced, and the others around it");
		}
		return Terms.of(request, this.leaseTime);
	}

	private void requireNotTooLong(String key) {
		// No character takes more than three bytes.
		if (key.length() > this.maxKeyBytes / 3) {
			int bytes = key.getBytes(StandardCharsets.UTF_8).length;
			if (bytes > this.maxKeyBytes) {
				throw new IllegalArgumentException("Lock key '" + key.substring(0, Math.min(40, key.length()))
						+ "…' has " + bytes + " bytes, but at most " + this.maxKeyBytes
						+ " are allowed. Lock by an identifier, not by content, or raise the engine's"
						+ " maxKeyBytes (distributed-lock.max-key-bytes)");
			}
		}
	}

	private static void refuse(LockRequest request, boolean asked, String what) {
		if (asked) {
			throw new IllegalArgumentException("Lock " + request.keys() + " was requested as " + what
					+ ", which this version does not support yet. Request it without");
		}
	}

}
