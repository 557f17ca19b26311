package io.github.distributedlock.backend.redis;

import java.util.stream.Stream;

import io.github.distributedlock.fixtures.AtomicityCase;
import io.github.distributedlock.tck.LockBackendContractTests;
import org.junit.jupiter.api.BeforeAll;

/**
 * The contract on each server, by each candidate that it has, with each client.
 */
class RedisLockBackendContractTests extends LockBackendContractTests {

	private final AtomicityStores stores = new AtomicityStores();

	@BeforeAll
	void startServers() {
		AtomicityCase.onAllServers().forEach(this.stores::add);
	}

	@Override
	protected Stream<String> stores() {
		return this.stores.names();
	}

	@Override
	protected RedisLockBackend backend(String store) {
		return this.stores.open(store);
	}

}
