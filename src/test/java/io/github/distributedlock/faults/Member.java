package io.github.distributedlock.faults;

import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.test.Client;

/**
 * One of those who share the locks: an engine with connections of its own, as if it were
 * in a JVM of its own.
 *
 * @param relay its relay, or {@code null}
 * @param backend its connections
 * @param engine its engine
 * @param end ends what the application would end
 */
record Member(RespRelay relay, RedisLockBackend backend, LockEngine engine, Runnable end) implements AutoCloseable {

	static Member join(Client client, int port, Route route) {
		RespRelay relay = (route != Route.DIRECT) ? new RespRelay(port) : null;
		int way = (relay != null) ? relay.port() : port;
		if (route == Route.SHARED) {
			ApplicationConnections application = ApplicationConnections.to(way);
			return of(relay, application.backend(), application::close);
		}
		return of(relay, client.backend(way, Trial.COMMAND_TIMEOUT), () -> {
		});
	}

	private static Member of(RespRelay relay, RedisLockBackend backend, Runnable end) {
		return new Member(relay, backend, LockEngine.builder(backend).leaseTime(Trial.LEASE).build(), end);
	}

	@Override
	public void close() {
		this.engine.close();
		this.backend.close();
		this.end.run();
		if (this.relay != null) {
			this.relay.close();
		}
	}

}
