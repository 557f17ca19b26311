package io.github.distributedlock.backend.redis.atomic;

import java.time.Duration;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.backend.redis.wire.Command.Verb;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.Link;
import io.github.distributedlock.backend.redis.wire.UnfinishedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The replicas that have to have a lock before anybody believes in it, else it is given
 * back.
 * <p>
 * Giving back is needed for more than politeness: a second attempt that finds the key its
 * own may have nothing to write, and WAIT, which asks about the last write of its own
 * connection, would count the replicas that have an older one.
 */
public final class Replicas {

	private static final Logger logger = LoggerFactory.getLogger(Replicas.class);

	private final int count;

	private final long timeoutMillis;

	/**
	 * Creates it.
	 * @param count how many of them have to have a lock
	 * @param timeout how long they may take
	 */
	public Replicas(int count, Duration timeout) {
		this.count = count;
		this.timeoutMillis = timeout.toMillis();
	}

	/**
	 * Asks for none, which is answered at once.
	 * @param link the way to the server
	 */
	static void tryOut(Link link, byte[] name) {
		link.number(Command.at(name, Verb.WAIT, KeyNames.number(0), KeyNames.number(1)));
	}

	/**
	 * Waits until enough replicas have what was acquired.
	 * @param link the link by which it was acquired, and which no other thread uses
	 * meanwhile
	 * @param steps how to give it back
	 * @param claim what was acquired
	 * @throws LockBackendException if they are too few
	 */
	void requireAcknowledgement(Link link, Steps steps, Claim claim) {
		long acknowledged;
		try {
			acknowledged = link.number(Command.at(KeyNames.bytes(claim.key()), Verb.WAIT, KeyNames.number(this.count),
					KeyNames.number(this.timeoutMillis)));
		}
		catch (RuntimeException ex) {
			// Not even a refusal of this is one of the lock, which was taken.
			throw new UnfinishedException(ex);
		}
		if (acknowledged < this.count) {
			String problem = "Lock '" + LockException.printable(claim.key()) + "' was taken, but only " + acknowledged
					+ " of " + this.count + " replicas acknowledged it within " + this.timeoutMillis
					+ " ms, so it was given back";
			boolean givenBack = giveBack(link, steps, claim);
			throw LockBackendException.of(problem)
				.remedy("check the replicas and their lag, or ask fewer: distributed-lock.redis.replicas-to-ack")
				.retryable(true)
				.notCarriedOut(givenBack)
				.build();
		}
	}

	private boolean giveBack(Link link, Steps steps, Claim claim) {
		try {
			steps.release(link, claim.key(), claim.owner());
			return true;
		}
		catch (RuntimeException ex) {
			logger.debug("Could not give lock '{}' of {} back yet", LockException.printable(claim.key()), claim.owner(),
					ex);
			return false;
		}
	}

}
