package io.github.distributedlock.engine.lease;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.DurationRange;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.engine.lease.Lease.Moment;
import io.github.distributedlock.engine.runtime.Batches;
import io.github.distributedlock.engine.runtime.EngineTime;
import io.github.distributedlock.engine.runtime.Failures;
import io.github.distributedlock.engine.runtime.Instance;
import io.github.distributedlock.engine.runtime.Interrupts;
import io.github.distributedlock.engine.runtime.Nodes;
import io.github.distributedlock.engine.runtime.Text;

/**
 * Makes leases longer when a user asks for it, and before several keys are handed out.
 * Safe for use by many threads.
 * <p>
 * States of an extension: not sent, sent, ended. It is ended when the store has answered
 * it or is known not to have carried it out; one that is not answered stays sent.
 * <p>
 * Invariants: an extension is counted in its {@link Ownership} from before it is sent
 * until it has ended, and a key with one that has not is not handed on, since the
 * extension may be carried out yet. What is renewed before it is handed out is not
 * counted, since several keys of a request are never handed on. The lease counts as
 * longer only after the answer, and from before the command was sent. No extension makes
 * a lease shorter, in the store or here.
 */
public final class Extender {

	private final LockBackend backend;

	private final Nodes nodes;

	private final Instance instance;

	private final LossHandler lossHandler;

	private final EngineTime time;

	public Extender(LockBackend backend, Instance instance, LossHandler lossHandler, EngineTime time) {
		this.backend = backend;
		this.nodes = new Nodes(backend);
		this.instance = instance;
		this.lossHandler = lossHandler;
		this.time = time;
	}

	/**
	 * Makes each lease last at least so long from now.
	 * @return whether all are held, and do
	 */
	public boolean extend(List<Hold> holds, Duration lease) {
		DurationRange.LEASE.check("lease", lease);
		for (Hold hold : holds) {
			if (!extend(hold, lease)) {
				return false;
			}
		}
		return true;
	}

	/**
	 * Renews the leases of keys before they are handed out, many with each command. Those
	 * that are not ours any more are declared lost.
	 * @throws LockBackendException if the store has failed
	 */
	public void renew(List<Hold> holds) {
		this.nodes.group(holds, Hold::key).values().forEach(this::renewOfOneNode);
	}

	private void renewOfOneNode(List<Hold> holds) {
		for (List<Hold> batch : Batches.of(holds)) {
			Moment sent = Moment.now(this.time);
			List<Claim> claims = batch.stream()
				.map((hold) -> Claim.of(hold.key(), hold.owner(), this.instance.id(), hold.options().leaseTime())
					.mode(hold.ownership().mode()))
				.toList();
			List<Boolean> owned = Interrupts.deferredDuring(() -> renewAll(claims));
			for (int i = 0; i < claims.size(); i++) {
				Ownership ownership = batch.get(i).ownership();
				if (owned.get(i)) {
					ownership.confirmed(sent, ownership.options().lease());
				}
				else {
					this.lossHandler.declare(ownership, Reason.TAKEN);
				}
			}
		}
	}

	private List<Boolean> renewAll(List<Claim> claims) {
		try {
			return this.backend.renew(claims);
		}
		catch (RuntimeException ex) {
			throw Failures.asBackendException("renew", claims.get(0).key(), ex);
		}
	}

	private boolean extend(Hold hold, Duration lease) {
		Moment sent = Moment.now(this.time);
		if (hold.ownership().maxHoldLeft(sent.nanos()) < lease.toNanos()) {
			throw new IllegalArgumentException(
					"Lock '" + LockException.printable(hold.key()) + "' cannot be extended by " + Text.of(lease)
							+ ": that is past its maxHoldTime of " + Text.of(hold.options().maxHold()));
		}
		if (!this.lossHandler.isStillHeld(hold) || hold.lease().left(sent) >= lease.toNanos()) {
			return hold.isHeld();
		}
		Duration asked = atLeastAsRenewed(hold, lease, sent);
		Claim claim = Claim.of(hold.key(), hold.owner(), this.instance.id(), asked).mode(hold.ownership().mode());
		// The key may stay ours for so long without our hearing of it.
		if (!hold.ownership().beginExtension(hold)) {
			return false;
		}
		if (!Interrupts.deferredDuring(() -> ask(claim, hold))) {
			this.lossHandler.declare(hold.ownership(), Reason.TAKEN);
			return false;
		}
		hold.ownership().confirmed(sent, asked.toMillis() * 1_000_000);
		return this.lossHandler.isStillHeld(hold) && hold.ownership().endExtension(hold);
	}

	/**
	 * A lease that the watchdog renews is not asked for shorter than it would: once such
	 * a renewal was not answered, a store may have to refuse longer ones, since it may
	 * still be carried out after them.
	 */
	private static Duration atLeastAsRenewed(Hold hold, Duration lease, Moment now) {
		if (!hold.options().renewed()) {
			return lease;
		}
		long renewed = Math.min(hold.options().lease(), hold.ownership().maxHoldLeft(now.nanos()));
		return Duration.ofMillis(Math.max(lease.toMillis(), TimeUnit.NANOSECONDS.toMillis(renewed)));
	}

	private boolean ask(Claim claim, Hold hold) {
		try {
			return this.backend.renew(List.of(claim)).get(0);
		}
		catch (RuntimeException ex) {
			LockBackendException failure = Failures.asBackendException("extend", claim.key(), ex);
			if (failure.isNotCarriedOut()) {
				hold.ownership().endExtension(hold);
			}
			throw failure;
		}
	}

}
