package io.github.distributedlock.docs;

import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.concurrent.JdkLocks;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The page about the JDK's locks shows a lock that excludes other JVMs.
 */
class ShelvesTests {

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	@Test
	void swapsAlone() {
		InMemoryLockBackend store = new InMemoryLockBackend();
		try (LockEngine here = LockEngine.builder(store).build();
				LockEngine otherJvm = LockEngine.builder(store).build()) {
			Shelves shelves = new Shelves(new JdkLocks(here)).put("a", "1").put("b", "2");
			CompletableFuture<Void> swapping;
			try (LockHandle held = otherJvm.acquire("shelves")) {
				swapping = CompletableFuture.runAsync(() -> shelves.swap("a", "b"), this.threads);
				Awaitility.await("the swap waits").until(() -> here.inspect("shelves").waiters().size() == 1);
				assertThat(shelves.shelf("a")).isEqualTo("1");
			}
			Patience.get(swapping, "the swap");
			assertThat(shelves.shelf("a")).isEqualTo("2");
			assertThat(shelves.shelf("b")).isEqualTo("1");
		}
	}

}
