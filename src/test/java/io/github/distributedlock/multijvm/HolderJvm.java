package io.github.distributedlock.multijvm;

import java.time.Duration;

import io.github.distributedlock.LockRequest;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.ChildJvm;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;

/**
 * A JVM that holds a lock, renewed, until somebody ends it. Arguments: client, port,
 * lease in milliseconds, key.
 */
final class HolderJvm {

	private HolderJvm() {
	}

	public static void main(String[] arguments) throws InterruptedException {
		LockEngine engine = LockEngine.builder(Client.valueOf(arguments[0]).backend(Integer.parseInt(arguments[1])))
			.watchdogTimeout(Duration.ofMillis(Long.parseLong(arguments[2])))
			.build();
		System.out.println("owner " + engine.acquire(LockRequest.of(arguments[3]).waitTime(Patience.PATIENCE)).owner());
		ChildJvm.awaitLine();
	}

}
