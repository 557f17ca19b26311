package io.github.distributedlock.engine;

import java.util.Set;
import java.util.function.BiConsumer;

import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.engine.lease.Failures;
import io.github.distributedlock.engine.lease.Leases;
import io.github.distributedlock.engine.lease.NodeTasks;
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
		Failures.orUndo(
				() -> this.tasks.run(NodeTasks.node(this.backend, node.key()), () -> end(queue, node, this::withdraw)),
				() -> end(queue, node, this::cleanUp));
	}

	/**
	 * Ends a withdrawal by a step that is told which owners may have been granted the
	 * key.
	 */
	private void end(LocalQueue queue, QueueNode node, BiConsumer<QueueNode, Set<String>> step) {
		if (!node.begin()) {
			return;
		}
		node.queue().takeGrant(); // One that is heard of from now on takes another
									// withdrawal.
		Set<String> unwanted = node.queue().unwanted();
		try {
			step.accept(node, unwanted);
		}
		finally {
			node.queue().withdrawn(unwanted);
			queue.leave(node);
		}
	}

	private void withdraw(QueueNode node, Set<String> unwanted) {
		try {
			this.backend.withdraw(node.key(), node.queueKey.waiter(), unwanted);
			node.queue().failure = null;
		}
		catch (RuntimeException ex) {
			logger.debug("Could not withdraw from lock '{}'", LockException.printable(node.key()), ex);
			node.queue().failure = Failures.asBackendException("withdraw", node.key(), ex);
			cleanUp(node, unwanted);
		}
	}

	private void cleanUp(QueueNode node, Set<String> unwanted) {
		unwanted.forEach((owner) -> this.leases.forget(node.queueKey.claim(owner)));
	}

}
