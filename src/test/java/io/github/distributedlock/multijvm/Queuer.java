package io.github.distributedlock.multijvm;

import java.time.Duration;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.ChildJvm;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Driver;
import io.github.distributedlock.fixtures.Patience;
import redis.clients.jedis.Jedis;

/**
 * A JVM whose threads queue up for a fair lock as they are told to, and write down in
 * Redis in what order they were served. Arguments: client, port. It says "ready"; then
 * each line that it is sent is the name of a waiter, or "barge": try to get in between
 * from now on.
 */
final class Queuer {

	static final String KEY = "desk";

	static final String SERVED = "served";

	private static final LockRequest REQUEST = LockRequest.of(KEY).fair(true);

	private final LockEngine engine;

	private final int port;

	private Queuer(LockEngine engine, int port) {
		this.engine = engine;
		this.port = port;
	}

	public static void main(String[] arguments) throws InterruptedException {
		int port = Integer.parseInt(arguments[1]);
		LockEngine engine = LockEngine.builder(Client.valueOf(arguments[0]).backend(port)).build();
		// Connects before anything counts.
		engine.run(LockRequest.of("warm-up-" + ProcessHandle.current().pid()).waitTime(Patience.PATIENCE), () -> {
		});
		Queuer queuer = new Queuer(engine, port);
		System.out.println("ready");
		while (true) {
			String order = ChildJvm.awaitLine();
			new Thread(order.equals("barge") ? queuer::barge : () -> queuer.queueUp(order)).start();
		}
	}

	private void queueUp(String name) {
		try (LockHandle handle = Driver.of(this.engine).acquire(REQUEST.waitTime(Duration.ofMinutes(1)))) {
			serve(name);
		}
	}

	private void barge() {
		while (true) {
			Driver.of(this.engine).tryAcquire(REQUEST).ifPresent((handle) -> {
				try (handle) {
					serve("barger");
				}
			});
		}
	}

	private void serve(String name) {
		try (Jedis list = new Jedis("localhost", this.port)) {
			list.rpush(SERVED, name);
		}
	}

}
