package io.github.distributedlock.backend.redis.atomic;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.backend.redis.wire.Command.Verb;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.Link;
import io.github.distributedlock.backend.redis.wire.RedisRefusal;
import io.github.distributedlock.backend.redis.wire.Values;

/**
 * Renews leases by plain commands.
 */
final class PlainRenewals {

	private final KeyNames names;

	private final CompareAndSet compareAndSet;

	private final UnansweredRenewals unanswered;

	PlainRenewals(KeyNames names, CompareAndSet compareAndSet, UnansweredRenewals unanswered) {
		this.names = names;
		this.compareAndSet = compareAndSet;
		this.unanswered = unanswered;
	}

	/**
	 * Renews a lease.
	 * @param link the way to the server
	 * @param claim what it is to be
	 * @return whether the owner owns the key, for at least so long
	 */
	boolean renew(Link link, Claim claim) {
		this.unanswered.begin(claim);
		byte[] name = this.names.lock(claim.key());
		boolean answered = true; // What only asks changes nothing later.
		try {
			// In this order: what is its own at last was its own when it had that time.
			if (link.number(Command.of(Verb.PTTL, name)) >= claim.lease().toMillis()) {
				return isOwned(link, claim, name);
			}
			answered = false;
			byte[] owner = KeyNames.bytes(claim.owner());
			boolean replaced = this.compareAndSet.replace(link, name, owner, owner, claim.lease().toMillis());
			answered = true;
			if (!replaced) {
				requireNotOwned(link, claim, name);
			}
			return replaced;
		}
		catch (RuntimeException ex) {
			RedisRefusal refusal = RedisRefusal.of(ex);
			answered |= refusal != null || ex instanceof LockBackendException;
			if (refusal == RedisRefusal.WRONGTYPE) {
				return false; // It became something else, so it is lost.
			}
			throw ex;
		}
		finally {
			this.unanswered.end(claim, answered);
		}
	}

	private static void requireNotOwned(Link link, Claim claim, byte[] name) {
		if (isOwned(link, claim, name)) {
			throw LockBackendException
				.of("Lock '" + LockException.printable(claim.key()) + "' was not renewed, though its owner still has"
						+ " it. With distributed-lock.redis.atomicity=best-effort it had less than "
						+ BestEffortCompareAndSet.MARGIN_MILLIS + " ms to live, which is too little")
				.remedy("choose a longer lease")
				.retryable(true)
				.notCarriedOut(true)
				.build();
		}
	}

	private static boolean isOwned(Link link, Claim claim, byte[] name) {
		return claim.owner().equals(Values.get(link, name));
	}

}
