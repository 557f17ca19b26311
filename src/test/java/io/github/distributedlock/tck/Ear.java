package io.github.distributedlock.tck;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.backend.WakeListener;

import static org.awaitility.Awaitility.await;

/**
 * A listener that remembers what it heard.
 */
public class Ear implements WakeListener {

	private final List<String> heard = new CopyOnWriteArrayList<>();

	private final List<String> waiters = new CopyOnWriteArrayList<>();

	private final AtomicInteger resubscriptions = new AtomicInteger();

	@Override
	public void onWake(String key, String waiter) {
		this.waiters.add(waiter);
		this.heard.add(key);
	}

	@Override
	public void onResubscribed() {
		this.resubscriptions.incrementAndGet();
	}

	/** The keys of the wake-ups, oldest first. */
	public List<String> heard() {
		return this.heard;
	}

	/** For whom the wake-ups were, oldest first. */
	public List<String> waiters() {
		return this.waiters;
	}

	public int resubscriptions() {
		return this.resubscriptions.get();
	}

	public void awaitWake(String key) {
		await("wake-up for " + key).pollInterval(Duration.ofMillis(10)).until(() -> this.heard.contains(key));
	}

}
