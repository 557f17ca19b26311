package io.github.distributedlock.engine;

import java.util.Set;
import java.util.function.BiConsumer;

import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.LockBackend;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the store in the background that no local request waits for a key any more. The
 * store then passes on a wake-up that was meant for this JVM, and a key that was granted
 * to this JVM. If the store cannot be told, or no thread can be had for that, the
 * registration and the reservation run out by themselves, and a key that may have been
 * granted is cleaned up.
 */
record Withdrawals(LockBackend backend, Leases leases, NodeTasks tasks) implements BiConsumer<LocalQueue, QueueEntry> {

	private static final Logger logger = LoggerFactory.getLogger(Withdrawals.class);

	@Override
	public void accept(LocalQueue queue, QueueEntry entry) {
		Failures.orUndo(() -> this.tasks.run(NodeTasks.node(this.backend, entry.key()), () -> end(queue, entry, true)),
				() -> end(queue, entry, false));
	}

	private void end(LocalQueue queue, QueueEntry entry, boolean hasThread) {
		if (!entry.begin()) {
			return;
		}
		// A grant that arrives from now on takes another withdrawal.
		entry.queue().takeGrant();
		Set<String> unwanted = entry.queue().unwanted();
		try {
			if (!(hasThread && tryWithdraw(entry, unwanted))) {
				unwanted.forEach((owner) -> this.leases.sweeper().forget(entry.queueKey.claim(owner)));
			}
		}
		finally {
			entry.queue().withdrawn(unwanted);
			queue.leave(entry);
		}
	}

	private boolean tryWithdraw(QueueEntry entry, Set<String> unwanted) {
		try {
			this.backend.withdraw(entry.key(), entry.queueKey.waiter(), unwanted);
			entry.queue().failure = null;
			return true;
		}
		catch (RuntimeException ex) {
			logger.debug("Could not withdraw from lock '{}'", LockException.printable(entry.key()), ex);
			entry.queue().failure = Failures.asBackendException("withdraw", entry.key(), ex);
			return false;
		}
	}

}
