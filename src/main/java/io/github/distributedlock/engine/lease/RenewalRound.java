package io.github.distributedlock.engine.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.engine.lease.Lease.Moment;
import io.github.distributedlock.engine.runtime.Batches;
import io.github.distributedlock.engine.runtime.EngineTime;
import io.github.distributedlock.engine.runtime.Events;
import io.github.distributedlock.engine.runtime.Failures;
import io.github.distributedlock.engine.runtime.Instance;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews leases of one node, some hundred with each command.
 */
public final class RenewalRound implements Consumer<List<Renewal>> {

	private static final Logger logger = LoggerFactory.getLogger(RenewalRound.class);

	private final LockBackend backend;

	private final Instance instance;

	private final LossHandler lossHandler;

	private final Sweeper sweeper;

	private final Events events;

	private final EngineTime time;

	private final LongAdder late = new LongAdder();

	/**
	 * Creates it.
	 * @param events tell the listeners on other threads
	 */
	public RenewalRound(LockBackend backend, Instance instance, LossHandler lossHandler, Sweeper sweeper, Events events,
			EngineTime time) {
		this.backend = backend;
		this.instance = instance;
		this.lossHandler = lossHandler;
		this.sweeper = sweeper;
		this.events = events;
		this.time = time;
	}

	@Override
	public void accept(List<Renewal> due) {
		Batches.of(due).forEach(this::renew);
	}

	/**
	 * How many leases were renewed late.
	 */
	public long late() {
		return this.late.sum();
	}

	private void renew(List<Renewal> batch) {
		Moment sent = Moment.now(this.time);
		List<Renewal> renewals = new ArrayList<>(batch.size());
		List<Claim> claims = new ArrayList<>(batch.size());
		for (Renewal renewal : batch) {
			Ownership ownership = renewal.ownership;
			if (ownership.isOwned()) {
				renewals.add(renewal);
				claims.add(Claim.of(ownership.key(), ownership.owner(), this.instance.id(), renewal.lease(sent))
					.mode(ownership.mode()));
			}
		}
		if (claims.isEmpty()) {
			return;
		}
		try {
			List<Boolean> owned = this.backend.renew(claims);
			for (int i = 0; i < claims.size(); i++) {
				answered(renewals.get(i), owned.get(i), sent, claims.get(i).lease());
			}
		}
		catch (RuntimeException ex) {
			logger.debug("Could not renew {} locks, trying again", claims.size(), ex);
			boolean mayComeLate = !Failures.asBackendException("renew", claims.get(0).key(), ex).isNotCarriedOut();
			renewals.forEach((renewal) -> failed(renewal, mayComeLate));
		}
	}

	private void answered(Renewal renewal, boolean owned, Moment sent, Duration lease) {
		Ownership ownership = renewal.ownership;
		if (!owned) {
			this.lossHandler.declare(ownership, Reason.TAKEN);
		}
		else if (ownership.isOwned()) {
			boolean planned = renewal.isPlanned();
			long left = ownership.lease().left(Moment.now(this.time));
			long whole = ownership.wholeLease();
			ownership.confirmed(sent, lease.toNanos());
			renewal.renewed(sent, lease.toNanos());
			if (planned && left < whole / 6) {
				this.late.increment();
				this.events.publish(new LockEvent.RenewedLate(ownership.name(), ownership.key(), ownership.owner(),
						Duration.ofNanos(left)));
			}
		}
		else if (ownership.isLost() && !ownership.isLeftToRunOut()) {
			// We gave it up before this was carried out: otherwise it would never be
			// freed.
			this.sweeper.cleanUp(ownership);
		}
	}

	private void failed(Renewal renewal, boolean mayComeLate) {
		Ownership ownership = renewal.ownership;
		if (ownership.isOver()) {
			this.lossHandler.declare(ownership, ownership.overReason());
		}
		if (mayComeLate && ownership.isLost() && !ownership.isLeftToRunOut()) {
			this.sweeper.cleanUp(ownership); // It may be renewed after we gave it up.
		}
		renewal.retry(this.time.nanoTime());
	}

}
