package io.github.distributedlock.backend.memory;

import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.tck.LockBackendContractTests;

/**
 * The memory of this JVM does what every backend has to do.
 */
class InMemoryLockBackendTests extends LockBackendContractTests {

	@Override
	protected LockBackend backend(String store) {
		return new InMemoryLockBackend();
	}

}
