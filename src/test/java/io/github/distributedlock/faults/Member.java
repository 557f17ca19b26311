package io.github.distributedlock.faults;

import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.test.Client;

/**
 * One of those who share the locks: an engine with connections of its own, as if it were
 * in a JVM of its own. Reaches the server through a relay, if there is one.
 *
 * @param relay its relay, or {@code null}
 * @param backend its connections
 * @param engine its engine
 */
record Member(RespRelay relay, RedisLockBackend backend, LockEngine engine) implements AutoCloseable {

	static Member join(Client client, int port, boolean relayed) {
		RespRelay relay = relayed ? new RespRelay(port) : null;
		RedisLockBackend backend = client.backend(relayed ? relay.port() : port, Trial.COMMAND_TIMEOUT);
		return new Member(relay, backend, LockEngine.builder(backend).leaseTime(Trial.LEASE).build());
	}

	@Override
	public void close() {
		this.engine.close();
		this.backend.close();
		if (this.relay != null) {
			this.relay.close();
		}
	}

}
