package io.github.distributedlock.backend.memory;

import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.tck.SharedContractTests;

/**
 * The memory of this JVM also keeps an order, and readers together.
 */
class InMemorySharedTests extends SharedContractTests {

	@Override
	protected LockBackend backend(String store) {
		return new InMemoryLockBackend();
	}

}
