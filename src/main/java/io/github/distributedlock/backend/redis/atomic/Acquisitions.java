package io.github.distributedlock.backend.redis.atomic;

import java.time.Duration;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.HandOverResult;
import io.github.distributedlock.backend.redis.connection.Lane;
import io.github.distributedlock.backend.redis.connection.Lanes;
import io.github.distributedlock.backend.redis.connection.OwnConnections;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.Link;
import io.github.distributedlock.backend.redis.wire.LockCodec;
import org.jspecify.annotations.Nullable;

/**
 * The steps that may acquire a lock. Each ends with the acknowledgement of the replicas,
 * if they are to be asked.
 */
public final class Acquisitions {

	private final KeyNames names;

	private final OwnConnections connections;

	private final AtomicitySelector selector;

	private final long timeoutNanos;

	private final @Nullable Replicas replicas;

	public Acquisitions(KeyNames names, OwnConnections connections, AtomicitySelector selector, Duration timeout,
			@Nullable Replicas replicas) {
		this.names = names;
		this.connections = connections;
		this.selector = selector;
		this.timeoutNanos = timeout.toNanos();
		this.replicas = replicas;
	}

	public @Nullable AcquireResult acquire(Claim claim) {
		boolean plain = !claim.fenced() && !LuaOnly.isNeeded(claim.mode(), claim.fair());
		return this.selector.run(this::lane, (steps, link) -> {
			AcquireResult result = plain ? acquireIfFree(steps, link, claim) : steps.acquire(link, claim);
			return acknowledged(link, steps, claim, result);
		});
	}

	private @Nullable AcquireResult acquireIfFree(Steps steps, Link link, Claim claim) {
		long begin = System.nanoTime();
		// After a slow command no second one is sent: the lock is not ours, unless the
		// client of a cluster has sent the command twice.
		AcquireResult result = Steps.acquireIfFree(link, this.names.lock(claim.key()), claim,
				() -> this.connections.cluster() || System.nanoTime() - begin <= this.timeoutNanos / 4);
		return LockCodec.holder(claim.owner()).equals(result.holder()) ? steps.acquire(link, claim) : result;
	}

	public @Nullable AcquireResult acquireOrRegister(Claim claim, boolean registers) {
		return this.selector.run(this::lane, (steps, link) -> {
			AcquireResult result = registers ? steps.acquireOrRegister(link, claim) : steps.acquire(link, claim);
			return acknowledged(link, steps, claim, result);
		});
	}

	public @Nullable HandOverResult pass(String owner, Claim next, boolean yields, boolean registers) {
		return this.selector.run(this::lane, (steps, link) -> {
			HandOverResult result = steps.pass(link, owner, next, yields, registers);
			try {
				acknowledged(link, steps, next, (result != null) ? result.next() : null);
			}
			catch (LockBackendException ex) {
				// The owner before has lost it, so this is no refusal.
				throw LockBackendException.of(ex.problem())
					.remedy(ex.remedy().orElse(null))
					.retryable(ex.isRetryable())
					.cause(ex)
					.build();
			}
			return result;
		});
	}

	private @Nullable AcquireResult acknowledged(Link link, Steps steps, Claim claim, @Nullable AcquireResult result) {
		if (this.replicas != null && result != null && result.acquired()) {
			this.replicas.requireAcknowledgement(link, steps, claim);
		}
		return result;
	}

	// Replicas are asked about what was written on the same connection.
	private Lane lane(AtomicityCandidate candidate) {
		Lanes exclusive = this.connections.exclusive();
		return (this.replicas != null && exclusive != null) ? exclusive.commands() : candidate.lanes().commands();
	}

}
