package io.github.distributedlock.backend.redis.atomic;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.backend.Claim;

/**
 * What several commands one after another cannot do: keep readers and writers apart, and
 * keep an order. Another client could come in between.
 */
public final class LuaOnly {

	private LuaOnly() {
	}

	/**
	 * Refuses claims that need scripts.
	 * @param claim the claim
	 * @throws LockBackendException if it does
	 */
	static void refuse(Claim claim) {
		if (isNeeded(claim.mode(), claim.fair())) {
			throw refusal(claim.key(), claim.mode(), claim.fair());
		}
	}

	public static boolean isNeeded(LockMode mode, boolean fair) {
		return fair || mode != LockMode.EXCLUSIVE;
	}

	public static LockBackendException refusal(String key, LockMode mode, boolean fair) {
		return LockBackendException
			.of("Lock '" + LockException.printable(key) + "' was requested as " + (fair ? "fair" : mode)
					+ ", which takes scripts (Lua), and those are not used on this server")
			.remedy("allow EVALSHA and EVAL to the user of the connection, and leave distributed-lock.redis.atomicity at"
					+ " auto or set it to lua")
			.notCarriedOut(true)
			.build();
	}

}
