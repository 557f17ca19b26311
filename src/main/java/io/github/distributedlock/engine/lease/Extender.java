package io.github.distributedlock.engine.lease;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

import io.github.distributedlock.DurationRange;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.engine.lease.Lease.Moment;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes leases longer: those that the {@link Watchdog} finds due, those of several keys
 * before they are handed out, and those that a user asks for. Safe for use by many
 * threads.
 * <p>
 * States of what a user asks for: not sent, sent, ended. It is ended when the store has
 * answered it or is known not to have carried it out; one that is not answered stays
 * sent.
 * <p>
 * Invariants: such an extension is counted in its {@link Ownership} from before it is
 * sent until it has ended, and a key with one that has not is not handed over, since the
 * extension may be carried out yet. A lease counts as longer only after the answer, and
 * from before the command was sent. No command makes a lease shorter, in the store or
 * here.
 */
public final class Extender {

	private static final Logger logger = LoggerFactory.getLogger(Extender.class);

	private final LockBackend backend;

	private final LossHandler lossHandler;

	private final Sweeper sweeper;

	private final Events events;

	private final EngineTime time;

	private final LongAdder late = new LongAdder();

	public Extender(LockBackend backend, LossHandler lossHandler, Sweeper sweeper, Events events, EngineTime time) {
		this.backend = backend;
		this.lossHandler = lossHandler;
		this.sweeper = sweeper;
		this.events = events;
		this.time = time;
	}

	/**
	 * Renews what is due on one node, some hundred leases with each command. What fails
	 * is tried again.
	 */
	public void renewDue(List<Ownership> due) {
		for (List<Ownership> batch : batches(due, this.backend)) {
			LockBackendException failure = renewBatch(batch);
			if (failure != null) {
				logger.debug("Could not renew {} locks, trying again", batch.size(), failure);
			}
		}
	}

	/**
	 * Renews the leases of keys before they are handed out. Those that are not ours any
	 * more are declared lost.
	 * @throws LockBackendException if the store has failed
	 */
	public void renew(List<Hold> holds) {
		List<Ownership> all = holds.stream().map(Hold::ownership).toList();
		for (List<Ownership> ofNode : NodeTasks.byNode(this.backend, all, Ownership::key).values()) {
			for (List<Ownership> batch : batches(ofNode, this.backend)) {
				LockBackendException failure = renewBatch(batch);
				if (failure != null) {
					throw failure;
				}
			}
		}
	}

	/**
	 * How many leases were renewed late.
	 */
	public long late() {
		return this.late.sum();
	}

	/**
	 * Divides a list into parts that a store renews or releases at once, in order.
	 */
	static <T> List<List<T>> batches(List<T> all, LockBackend backend) {
		int most = backend.largestBatch();
		return IntStream.range(0, (all.size() + most - 1) / most)
			.mapToObj((i) -> all.subList(i * most, Math.min(all.size(), (i + 1) * most)))
			.toList();
	}

	/**
	 * Renews with one command what is not lost.
	 * @return why the store has failed, {@code null} if it has not
	 */
	private @Nullable LockBackendException renewBatch(List<Ownership> batch) {
		Moment sent = Moment.now(this.time);
		List<Ownership> owned = batch.stream().filter(Ownership::isOwned).toList();
		List<Renewal> renewals = owned.stream().map((each) -> renewal(each, each.plan().lease(sent))).toList();
		if (renewals.isEmpty()) {
			return null;
		}
		try {
			List<Boolean> answers = Failures.ask("renew", renewals.get(0).key(), () -> this.backend.renew(renewals));
			for (int i = 0; i < renewals.size(); i++) {
				answered(owned.get(i), answers.get(i), sent, renewals.get(i).lease());
			}
			return null;
		}
		catch (LockBackendException ex) {
			owned.forEach((each) -> failed(each, !ex.isNotCarriedOut()));
			return ex;
		}
	}

	private static Renewal renewal(Ownership ownership, Duration lease) {
		return new Renewal(ownership.key(), ownership.owner(), lease, ownership.mode());
	}

	private void answered(Ownership ownership, boolean owned, Moment sent, Duration lease) {
		if (!owned) {
			this.lossHandler.declare(ownership, Reason.TAKEN);
		}
		else if (ownership.isOwned()) {
			long left = ownership.lease().left(Moment.now(this.time));
			boolean isLate = ownership.plan().isPlanned() && left < ownership.wholeLease() / 6;
			ownership.confirmed(sent, lease.toNanos());
			ownership.plan().renewed(sent, lease.toNanos());
			if (isLate) {
				this.late.increment();
				this.events.publishElsewhere(new LockEvent.RenewedLate(ownership.request(), ownership.key(),
						ownership.owner(), Duration.ofNanos(left)));
			}
		}
		else {
			cleanUpIfLost(ownership); // Given up before this was carried out.
		}
	}

	private void failed(Ownership ownership, boolean mayComeLate) {
		this.lossHandler.isStillOwned(ownership);
		if (mayComeLate) {
			cleanUpIfLost(ownership);
		}
		ownership.plan().retry(this.time.nanoTime());
	}

	private void cleanUpIfLost(Ownership ownership) {
		if (ownership.isLost() && !ownership.isLeftToRunOut()) {
			this.sweeper.cleanUp(ownership);
		}
	}

	/**
	 * Makes each lease last at least so long from now.
	 * @return whether all are held, and do
	 */
	public boolean extend(List<Hold> holds, Duration lease) {
		DurationRange.LEASE.check("lease", lease);
		return holds.stream().allMatch((hold) -> extend(hold, lease));
	}

	private boolean extend(Hold hold, Duration lease) {
		Moment sent = Moment.now(this.time);
		Ownership ownership = hold.ownership();
		long longest = ownership.maxHoldLeft(sent.nanos());
		if (longest < lease.toNanos()) {
			throw new IllegalArgumentException(
					"Lock '" + LockException.printable(hold.key()) + "' cannot be extended by " + Failures.text(lease)
							+ ": that is past its maxHoldTime of " + Failures.text(hold.options().maxHold()));
		}
		if (!this.lossHandler.isStillHeld(hold) || hold.lease().left(sent) >= lease.toNanos()) {
			return hold.isHeld();
		}
		// Not shorter than the watchdog would ask for: once such a renewal was not
		// answered, a store may have to refuse longer ones, since it may still be carried
		// out after them.
		long least = hold.options().renewed() ? Math.min(hold.options().lease(), longest) : 0;
		Duration asked = Duration.ofMillis(Math.max(lease.toMillis(), TimeUnit.NANOSECONDS.toMillis(least)));
		// The key may stay ours for so long without our hearing of it.
		if (!ownership.beginExtension(hold)) {
			return false;
		}
		if (!send(renewal(ownership, asked), hold)) {
			this.lossHandler.declare(ownership, Reason.TAKEN);
			return false;
		}
		ownership.confirmed(sent, asked.toNanos());
		return this.lossHandler.isStillHeld(hold) && ownership.endExtension(hold);
	}

	private boolean send(Renewal renewal, Hold hold) {
		try {
			return Failures.ask("extend", renewal.key(), () -> this.backend.renew(List.of(renewal))).get(0);
		}
		catch (LockBackendException ex) {
			if (ex.isNotCarriedOut()) {
				hold.ownership().endExtension(hold);
			}
			throw ex;
		}
	}

}
