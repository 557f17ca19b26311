package io.github.distributedlock.backend.redis;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.Attempt;
import io.github.distributedlock.backend.Claim;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.RedisConnection;

/**
 * Believes in a lock only if enough replicas have it, else gives it back.
 * <p>
 * Giving back is needed for more than politeness: a second attempt that finds the key its
 * own may have nothing to write, and WAIT, which asks about the last write of its own
 * connection, would count the replicas that have an older one.
 */
final class ReplicatedAcquiring implements Acquiring {

	private static final Logger logger = LoggerFactory.getLogger(ReplicatedAcquiring.class);

	private final AckLane lane;

	private final LuaSteps steps;

	private final RedisLockSettings settings;

	ReplicatedAcquiring(AckLane lane, LuaSteps steps, RedisLockSettings settings) {
		this.lane = lane;
		this.steps = steps;
		this.settings = settings;
	}

	@Override
	public @Nullable Attempt run(Claim claim, Lane.Command<Attempt> step) {
		return this.lane.run((connection) -> {
			Attempt attempt = step.on(connection);
			if (attempt != null && attempt.acquired()) {
				requireReplicas(connection, claim);
			}
			return attempt;
		});
	}

	private void requireReplicas(RedisConnection connection, Claim claim) {
		int replicas = this.settings.replicasToAck();
		long acknowledged = this.lane.awaitReplicas(connection, replicas, this.settings.replicaAckTimeout());
		if (acknowledged >= replicas) {
			return;
		}
		boolean undone = giveBack(connection, claim);
		String message = "Lock '" + claim.key() + "' was taken, but only " + acknowledged + " of " + replicas
				+ " replicas acknowledged it within " + this.settings.replicaAckTimeout().toMillis()
				+ " ms, so it was given back (check the replicas and their lag, or ask fewer:"
				+ " distributed-lock.redis.replicas-to-ack)";
		throw undone ? LockBackendException.refused(message, true, null)
				: new LockBackendException(message, true, null);
	}

	private boolean giveBack(RedisConnection connection, Claim claim) {
		try {
			this.steps.release(connection, claim.key(), claim.owner());
			return true;
		}
		catch (RuntimeException ex) {
			logger.debug("Could not give lock '{}' of {} back yet", claim.key(), claim.owner(), ex);
			return false;
		}
	}

}
