package io.github.distributedlock.faults;

import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.engine.WallClock;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Relay;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

/**
 * One of the members that share the locks: an engine with connections of its own, as if
 * in a JVM of its own.
 *
 * @param relay the member's relay, or {@code null}
 * @param backend the member's connections
 * @param engine the member's engine
 * @param wallClock the wall clock of that engine
 */
record Member(Relay relay, RedisLockBackend backend, LockEngine engine, WallClock wallClock) implements AutoCloseable {

	static Member join(Client client, Deployment redis, Route route) {
		if (route == Route.DIRECT) {
			return of(null, client.backend(redis.configuration(), redis.settings()));
		}
		Relay relay = new Relay(redis.master().get().port());
		RedisConfiguration way = new RedisStandaloneConfiguration("localhost", relay.port());
		return of(relay, client.backend(way, redis.settings()));
	}

	private static Member of(Relay relay, RedisLockBackend backend) {
		WallClock wallClock = new WallClock();
		LockEngine engine = wallClock.build(LockEngine.builder(backend).watchdogTimeout(Trial.LEASE));
		return new Member(relay, backend, engine, wallClock);
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
