package io.github.distributedlock.backend.memory;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.backend.Claim;

/**
 * Who waits for a key.
 *
 * @param name as it was {@linkplain Claim#waiter() registered}
 * @param instance who is to hear for it
 * @param reads whether it would share the key
 * @param keepsPlace whether it is a single request, whose place is its own until it has
 * the key or gives up
 */
record Waiter(String name, String instance, boolean reads, boolean keepsPlace) {

	static Waiter of(Claim claim) {
		return new Waiter(claim.waiter(), claim.instance(), claim.mode() == LockMode.SHARED, claim.fair());
	}

}
