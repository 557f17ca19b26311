package io.github.distributedlock.engine;

import java.util.Set;
import java.util.function.Consumer;

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
record Withdrawals(LockBackend backend, Leases leases, NodeTasks tasks) implements Consumer<LocalKey> {

	private static final Logger logger = LoggerFactory.getLogger(Withdrawals.class);

	@Override
	public void accept(LocalKey key) {
		Failures.orUndo(() -> this.tasks.run(NodeTasks.node(this.backend, key.queueKey().key()), () -> end(key, true)),
				() -> end(key, false));
	}

	private void end(LocalKey key, boolean hasThread) {
		Set<String> unwanted = key.beginWithdrawal();
		if (unwanted == null) {
			return;
		}
		try {
			if (!(hasThread && tryWithdraw(key, unwanted))) {
				unwanted.forEach((owner) -> this.leases.sweeper().forget(key.queueKey().claim(owner)));
			}
		}
		finally {
			key.endWithdrawal(unwanted);
		}
	}

	private boolean tryWithdraw(LocalKey local, Set<String> unwanted) {
		String key = local.queueKey().key();
		try {
			this.backend.withdraw(key, local.queueKey().waiter(), unwanted);
			local.failed(null);
			return true;
		}
		catch (RuntimeException ex) {
			logger.debug("Could not withdraw from lock '{}'", LockException.printable(key), ex);
			local.failed(Failures.asBackendException("withdraw", key, ex));
			return false;
		}
	}

}
