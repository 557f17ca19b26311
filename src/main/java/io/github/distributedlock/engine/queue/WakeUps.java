package io.github.distributedlock.engine.queue;

import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.engine.runtime.Instance;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the store's wake-ups to the queues. Anybody may publish one, so those that name a
 * waiter of another JVM are ignored.
 */
public final class WakeUps implements ReleaseListener {

	private static final Logger logger = LoggerFactory.getLogger(WakeUps.class);

	private final LocalQueue queue;

	private final Instance instance;

	public WakeUps(LocalQueue queue, Instance instance) {
		this.queue = queue;
		this.instance = instance;
	}

	@Override
	public void onRelease(ReleaseNotification notification) {
		Waiter waiter = notification.waiter();
		if (!this.instance.isWaiter(waiter)) {
			// Nobody here waits for it, and it would be withdrawn under somebody else.
			logger.debug("Ignored a wake-up that names {}, a waiter of another JVM",
					LockException.printable(waiter.toString()));
			return;
		}
		this.queue.wake(new QueueKey(notification.key(), waiter));
	}

	@Override
	public void onResubscribed() {
		this.queue.wakeAll();
	}

}
