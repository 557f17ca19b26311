package io.github.distributedlock.faults;

import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.engine.WallClock;
import io.github.distributedlock.test.Client;
import io.github.distributedlock.test.RedisServers;

/**
 * One of those who share the locks: an engine with connections of its own, as if it were
 * in a JVM of its own.
 *
 * @param relay its relay, or {@code null}
 * @param backend its connections
 * @param engine its engine
 * @param wallClock the wall clock that its engine goes by
 * @param end ends what the application would end
 */
record Member(RespRelay relay, RedisLockBackend backend, LockEngine engine, WallClock wallClock,
		Runnable end) implements AutoCloseable {

	private static final Runnable NOTHING = () -> {
	};

	static Member join(Client client, RedisServers.Server server, Route route) {
		if (route == Route.DIRECT) {
			return of(null, client.backend(server.host(), server.port(), Trial.COMMAND_TIMEOUT), NOTHING);
		}
		RespRelay relay = new RespRelay(server.port());
		if (route == Route.SHARED) {
			ApplicationConnections application = ApplicationConnections.to(relay.port());
			return of(relay, application.backend(), application::close);
		}
		return of(relay, client.backend(relay.port(), Trial.COMMAND_TIMEOUT), NOTHING);
	}

	private static Member of(RespRelay relay, RedisLockBackend backend, Runnable end) {
		WallClock wallClock = new WallClock();
		LockEngine engine = wallClock.build(LockEngine.builder(backend).leaseTime(Trial.LEASE));
		return new Member(relay, backend, engine, wallClock, end);
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
