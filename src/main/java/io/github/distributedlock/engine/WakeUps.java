package io.github.distributedlock.engine;

import io.github.distributedlock.backend.WakeListener;

/**
 * Takes the store's wake-ups to the queues.
 */
final class WakeUps implements WakeListener {

	private final LocalQueue queue;

	WakeUps(LocalQueue queue) {
		this.queue = queue;
	}

	@Override
	public void onWake(String key, String waiter) {
		this.queue.wake(new Waiter(key, waiter));
	}

	@Override
	public void onResubscribed() {
		this.queue.wakeAll();
	}

}
