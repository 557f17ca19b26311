package io.github.distributedlock.engine.queue;

import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.engine.lease.Sweeper;
import io.github.distributedlock.engine.lease.Watchdog;
import io.github.distributedlock.engine.runtime.Instance;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the store's wake-ups to the queues, and what its answers say of wake-ups that got
 * lost. Anybody may publish a wake-up, so those that name a waiter of another JVM are
 * ignored. Safe for use by many threads.
 */
public final class WakeUps implements ReleaseListener {

	private static final Logger logger = LoggerFactory.getLogger(WakeUps.class);

	private final LocalQueue queue;

	private final Sweeper sweeper;

	private final Watchdog watchdog;

	private final Instance instance;

	public WakeUps(LocalQueue queue, Sweeper sweeper, Watchdog watchdog, Instance instance) {
		this.queue = queue;
		this.sweeper = sweeper;
		this.watchdog = watchdog;
		this.instance = instance;
	}

	@Override
	public void onRelease(ReleaseNotification notification) {
		Waiter waiter = notification.waiter();
		if (!this.instance.isWaiter(waiter) || !isOurs(notification.owner())) {
			// No local request waits as that, and its registration would be withdrawn.
			logger.debug("Ignored a wake-up that names {}, a waiter of another JVM",
					LockException.printable(waiter.toString()));
			return;
		}
		QueueKey queueKey = new QueueKey(notification.key(), waiter);
		String owner = notification.owner();
		if (owner == null) {
			this.queue.wake(queueKey);
		}
		else if (!this.queue.granted(queueKey, notification, owner)) {
			this.sweeper.forget(queueKey.claim(owner));
		}
	}

	private boolean isOurs(@Nullable String owner) {
		return owner == null || this.instance.hasMade(owner);
	}

	/**
	 * Takes note of the holder of a key. If it is reserved for a fair request of this
	 * JVM, the wake-up of that request may have got lost, or the request has given up. If
	 * it is owned by a request that still waits, the answer to that request got lost.
	 */
	void sawHolder(String key, @Nullable Holder holder) {
		if (holder == null || !this.instance.hasMade(holder.name())) {
			return;
		}
		QueueKey ticket = new QueueKey(key, Waiter.fair(this.instance.id(), holder.name()));
		if (holder.isReservation()) {
			this.queue.wake(ticket);
		}
		else if (holder.state() == Holder.State.OWNER) {
			this.queue.wakeIfWaiting(ticket);
		}
	}

	@Override
	public void onResubscribed() {
		this.watchdog.renewAll();
		this.queue.wakeAll();
	}

}
