package io.github.distributedlock.engine;

import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.engine.LocalKey.QueueKey;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the store's release notifications to the queues. Anybody may publish a
 * notification, so those that name a waiter of another JVM are ignored. Safe for use by
 * many threads.
 */
record NotificationRouter(LocalQueue queue, Leases leases, Instance instance) implements ReleaseListener {

	private static final Logger logger = LoggerFactory.getLogger(NotificationRouter.class);

	@Override
	public void onRelease(ReleaseNotification notification) {
		Waiter waiter = notification.waiter();
		String owner = notification.owner();
		boolean isOfAnother = owner != null && (this.instance.findsItself(owner) || !this.instance.hasMade(owner));
		if (isOfAnother || !this.instance.is(waiter.instance())) {
			// No local request waits under that name, and the registration would be
			// withdrawn.
			logger.debug("Ignored a release notification that names {}, a waiter of another JVM",
					LockException.printable(waiter.toString()));
			return;
		}
		QueueKey queueKey = new QueueKey(notification.key(), waiter);
		if (owner == null) {
			this.queue.wake(queueKey);
		}
		else if (!this.queue.granted(queueKey, notification, owner)) {
			this.leases.sweeper().forget(queueKey.claim(owner));
		}
	}

	@Override
	public void onRecall(String key, String owner) {
		if (this.instance.hasMade(owner)) {
			this.queue.recall(key, owner);
		}
	}

	@Override
	public void onResubscribed() {
		this.leases.watchdog().renewAll();
		this.queue.wakeAll();
	}

}
