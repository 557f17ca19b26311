package io.github.distributedlock.autoconfigure;

import java.util.List;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.annotation.DistributedLock;

/**
 * A bean with an annotated method.
 */
class Greeter implements Greeting {

	@Override
	@DistributedLock(key = "'greeting'")
	public List<String> heldKeys() {
		return LockHandle.current().map(LockHandle::keys).orElse(List.of());
	}

}
