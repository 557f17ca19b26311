package io.github.distributedlock.backend.redis.wire;

import org.springframework.data.redis.RedisConnectionFailureException;

/**
 * A connection by TLS that got no answer in time: what a server does that takes the
 * beginning of TLS for that of a command.
 */
public final class SilentTlsException extends RedisConnectionFailureException {

	public SilentTlsException(RuntimeException cause) {
		super("no answer to TLS", cause);
	}

}
