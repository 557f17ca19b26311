package io.github.distributedlock.engine;

import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes what the store says of a key to the local requests that the message concerns:
 * release notifications, recalls, and who has a key that was found busy. Anybody may
 * publish a notification, so those that name a waiter of another JVM are ignored. Safe
 * for use by many threads.
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

	/**
	 * Takes notice who has a key that a request of this JVM has found busy. Wakes a fair
	 * request that the key is reserved for: the notification of that request may have got
	 * lost, or the request has given up. Also wakes a fair request that owns the key and
	 * still waits: the answer to that request got lost. Asks an owner of this JVM that
	 * may only keep the key to give the key back; an owner of another JVM was asked by
	 * the store.
	 * @param claim the claim of the request
	 * @return whether nobody may be using the key
	 */
	boolean isUnused(Claim claim, @Nullable Holder holder) {
		if (holder == null) {
			return false;
		}
		String name = holder.name();
		if (!this.instance.findsItself(name) && this.instance.hasMade(name)) {
			QueueKey ticket = new QueueKey(claim.key(), Waiter.fair(claim.instance(), name));
			if (holder.isReservation()) {
				this.queue.wake(ticket);
			}
			LocalKey waiting = this.queue.find(ticket);
			if (waiting != null && holder.state() == Holder.State.OWNER) {
				waiting.wake();
			}
		}
		return holder.state() == Holder.State.OWNER && Claim.isRecallable(name)
				&& (!this.instance.is(Claim.instanceOf(name)) || this.queue.recall(claim.key(), name));
	}

	@Override
	public void onResubscribed() {
		this.leases.watchdog().renewAll();
		this.queue.wakeAll();
	}

}
