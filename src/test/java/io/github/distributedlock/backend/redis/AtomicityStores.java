package io.github.distributedlock.backend.redis;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.distributedlock.fixtures.AtomicityCase;
import io.github.distributedlock.fixtures.Client;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The stores of a contract test: ways to keep locks atomic, each with each client.
 */
final class AtomicityStores {

	private final Map<String, Supplier<RedisLockBackend>> stores = new LinkedHashMap<>();

	private final AtomicInteger opened = new AtomicInteger();

	void add(AtomicityCase one) {
		for (Client client : Client.values()) {
			this.stores.put(one + ", " + client, () -> open(one, client));
		}
	}

	Stream<String> names() {
		return this.stores.keySet().stream();
	}

	/**
	 * Opens a store, and asserts that its locks are kept atomic in the way of the name.
	 * @param name the name of the store
	 * @return the backend, to be closed
	 */
	RedisLockBackend open(String name) {
		return this.stores.get(name).get();
	}

	// Tests that run side by side must not hear each other.
	private RedisLockBackend open(AtomicityCase one, Client client) {
		RedisLockBackend backend = one.backend(client, "contract-" + nextNumber());
		assertThat(backend.atomicity()).as("chosen on %s", one).isEqualTo(one.atomicity());
		return backend;
	}

	int nextNumber() {
		return this.opened.incrementAndGet();
	}

}
