package io.github.distributedlock.engine.queue;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.engine.lease.Hold;
import io.github.distributedlock.engine.lease.HoldOptions;
import io.github.distributedlock.engine.lease.Lease.Moment;
import io.github.distributedlock.engine.lease.Ownership;
import io.github.distributedlock.engine.runtime.Failures;
import org.jspecify.annotations.Nullable;

/**
 * Acquires several keys in one step, where the store can do that and no other request is
 * in the way. Never waits: keys that cannot be acquired so are acquired one after the
 * other.
 */
public final class MultiKeyAcquirer {

	private final AcquireContext context;

	public MultiKeyAcquirer(AcquireContext context) {
		this.context = context;
	}

	/**
	 * Acquires all keys or none.
	 * @param era when the request was made, and served
	 * @return a hold for each key, guarded, or {@code null} if they have to be acquired
	 * one by one
	 * @throws LockBackendException if the store refused it for good, or failed and there
	 * is no time left to ask again
	 */
	public @Nullable List<Hold> acquire(List<String> keys, String owner, HoldOptions options, Wait wait, int era) {
		if (options.mode() != LockMode.EXCLUSIVE || options.fair() || !wait.mayAsk()
				|| !this.context.store().coversInOneStep(keys)) {
			return null;
		}
		List<Claim> claims = keys.stream()
			.map((key) -> options.claim(key, owner, this.context.instance().id()))
			.toList();
		List<QueueNode> nodes = new ArrayList<>(keys.size());
		List<Hold> holds = new ArrayList<>(keys.size());
		boolean acquired = false;
		boolean complete = false;
		try {
			Moment sent = Moment.now(this.context.time());
			acquired = enter(claims, nodes) && ask(claims, wait);
			complete = acquired && begin(nodes, owner, options, sent, era, holds);
		}
		finally {
			if (!complete) {
				if (acquired) {
					cleanUp(claims);
				}
				holds.forEach(this.context.handOver()::undo);
				nodes.forEach(QueueNode::leave);
			}
		}
		return complete ? holds : null;
	}

	private boolean enter(List<Claim> claims, List<QueueNode> nodes) {
		for (Claim claim : claims) {
			QueueNode node = enterAlone(claim);
			if (node == null) {
				return false;
			}
			nodes.add(node);
		}
		return true;
	}

	/**
	 * Takes the place of a key that no local request holds or waits for, nor has left a
	 * registration of in the store.
	 */
	private @Nullable QueueNode enterAlone(Claim claim) {
		QueueNode node = this.context.queue().enter(QueueKey.of(claim, this.context.instance()), false, false, null);
		if (node != null && (node.isRegistered() || !node.takeTurn())) {
			node.leave();
			return null;
		}
		return node;
	}

	private boolean ask(List<Claim> claims, Wait wait) {
		boolean answered = false;
		try {
			wait.asking();
			boolean acquired = this.context.store().acquireAll(claims);
			answered = true;
			wait.heard(acquired ? AcquireResult.ACQUIRED : AcquireResult.BUSY);
			return acquired;
		}
		catch (RuntimeException ex) {
			LockBackendException failure = Failures.asBackendException("acquire", claims.get(0).key(), ex);
			answered = failure.isNotCarriedOut();
			if (!failure.isRetryable() || (!answered && !wait.isAllowed())) {
				throw failure;
			}
			if (wait.isAllowed() && wait.isOver()) {
				throw Failures.inAllThatTime(claims.get(0).key(), wait.waited(), failure);
			}
			return false;
		}
		finally {
			if (!answered) {
				cleanUp(claims);
			}
		}
	}

	/**
	 * Begins to hold what the store has given.
	 * @return {@code false} if its answer came too late
	 */
	private boolean begin(List<QueueNode> nodes, String owner, HoldOptions options, Moment sent, int era,
			List<Hold> holds) {
		for (QueueNode node : nodes) {
			Ownership ownership = new Ownership(node.key(), owner, options, sent, sent.nanos(), false,
					this.context.time());
			if (ownership.isOver()) {
				return false;
			}
			holds.add(this.context.begin(ownership, node, options, OptionalLong.empty()));
		}
		this.context.lifecycle().requireServed(era, nodes.get(0).key());
		return true;
	}

	private void cleanUp(List<Claim> claims) {
		claims.forEach(this.context.sweeper()::cleanUp);
	}

}
