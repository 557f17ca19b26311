package io.github.distributedlock.engine;

import java.util.Set;
import java.util.function.BiConsumer;

import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.LockBackend;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the store in the background that no local request waits for a key any more, so
 * that it passes on a wake-up that was meant for us, and a key that was granted to us. If
 * the store cannot be told, or no thread can be had for that, the registration and the
 * reservation run out by themselves, and what may have been granted is cleaned up.
 */
record Withdrawals(LockBackend backend, Leases leases, NodeTasks tasks) implements BiConsumer<LocalQueue, QueueNode> {

	private static final Logger logger = LoggerFactory.getLogger(Withdrawals.class);

	@Override
	public void accept(LocalQueue queue, QueueNode node) {
		Failures.orUndo(() -> this.tasks.run(NodeTasks.node(this.backend, node.key()), () -> end(queue, node, true)),
				() -> end(queue, node, false));
	}

	private void end(LocalQueue queue, QueueNode node, boolean hasThread) {
		if (!node.begin()) {
			return;
		}
		// One that is heard of from now on takes another withdrawal.
		node.queue().takeGrant();
		Set<String> unwanted = node.queue().unwanted();
		try {
			if (!(hasThread && hasWithdrawn(node, unwanted))) {
				unwanted.forEach((owner) -> this.leases.sweeper().forget(node.queueKey.claim(owner)));
			}
		}
		finally {
			node.queue().withdrawn(unwanted);
			queue.leave(node);
		}
	}

	private boolean hasWithdrawn(QueueNode node, Set<String> unwanted) {
		try {
			this.backend.withdraw(node.key(), node.queueKey.waiter(), unwanted);
			node.queue().failure = null;
			return true;
		}
		catch (RuntimeException ex) {
			logger.debug("Could not withdraw from lock '{}'", LockException.printable(node.key()), ex);
			node.queue().failure = Failures.asBackendException("withdraw", node.key(), ex);
			return false;
		}
	}

}
