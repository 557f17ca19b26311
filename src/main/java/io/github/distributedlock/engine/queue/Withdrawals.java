package io.github.distributedlock.engine.queue;

import java.util.Set;
import java.util.function.BiConsumer;

import io.github.distributedlock.LockException;
import io.github.distributedlock.engine.lease.Sweeper;
import io.github.distributedlock.engine.runtime.Failures;
import io.github.distributedlock.engine.runtime.Nodes;
import io.github.distributedlock.engine.runtime.SerialTasks;
import io.github.distributedlock.engine.runtime.Store;
import io.github.distributedlock.engine.runtime.Undo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the store in the background that no local request waits for a key any more, so
 * that it passes on a wake-up that was meant for us, and a key that was granted to us. If
 * the store cannot be told, or no thread can be had for that, the registration and the
 * reservation run out by themselves, and what may have been granted is cleaned up.
 */
public final class Withdrawals implements BiConsumer<LocalQueue, QueueNode> {

	private static final Logger logger = LoggerFactory.getLogger(Withdrawals.class);

	private final Store store;

	private final Sweeper sweeper;

	private final Nodes nodes;

	private final SerialTasks tasks;

	/**
	 * Creates it.
	 * @param tasks those in which the groups are the lanes of the nodes
	 */
	public Withdrawals(Store store, Sweeper sweeper, SerialTasks tasks) {
		this.store = store;
		this.sweeper = sweeper;
		this.nodes = new Nodes(store.backend());
		this.tasks = tasks;
	}

	@Override
	public void accept(LocalQueue queue, QueueNode node) {
		Undo.ifFails(() -> this.tasks.run(this.nodes.lane(node.key()), () -> end(queue, node, this::withdraw)),
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
		node.takeGrant(); // One that is heard of from now on takes another withdrawal.
		Set<String> unwanted = node.unwanted();
		try {
			step.accept(node, unwanted);
		}
		finally {
			node.settled(unwanted);
			node.settled();
			queue.leave(node);
		}
	}

	private void withdraw(QueueNode node, Set<String> unwanted) {
		try {
			this.store.withdraw(node.key(), node.queueKey.waiter(), unwanted);
			node.answered();
		}
		catch (RuntimeException ex) {
			logger.debug("Could not withdraw from lock '{}'", LockException.printable(node.key()), ex);
			node.failed(Failures.asBackendException("withdraw", node.key(), ex));
			cleanUp(node, unwanted);
		}
	}

	private void cleanUp(QueueNode node, Set<String> unwanted) {
		unwanted.forEach((owner) -> this.sweeper.forget(node.queueKey.claim(owner)));
	}

}
