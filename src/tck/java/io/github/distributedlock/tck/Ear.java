package io.github.distributedlock.tck;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;

import static org.junit.jupiter.api.Assertions.assertEquals;

/**
 * A listener that remembers all release notifications.
 */
public final class Ear implements ReleaseListener {

	private final List<ReleaseNotification> notifications = new CopyOnWriteArrayList<>();

	private final List<String> recalls = new CopyOnWriteArrayList<>();

	private final AtomicInteger resubscriptions = new AtomicInteger();

	private final Duration patience;

	/**
	 * True if the store notifies. Otherwise nothing is asserted of notifications, and
	 * nothing is waited for: what they tell is true before they come.
	 */
	private final boolean hears;

	/**
	 * Makes one that waits for a notification for a minute at most.
	 */
	public Ear() {
		this(Duration.ofMinutes(1), true);
	}

	Ear(Duration patience, boolean hears) {
		this.patience = patience;
		this.hears = hears;
	}

	@Override
	public void onRelease(ReleaseNotification notification) {
		this.notifications.add(notification);
	}

	@Override
	public void onRecall(String key, String owner) {
		this.recalls.add(owner + " of " + key);
	}

	@Override
	public void onResubscribed() {
		this.resubscriptions.incrementAndGet();
	}

	/** The keys of the notifications, oldest first. */
	public List<String> heard() {
		return this.notifications.stream().map(ReleaseNotification::key).toList();
	}

	/** For whom the notifications were, oldest first. */
	public List<Waiter> waiters() {
		return this.notifications.stream().map(ReleaseNotification::waiter).toList();
	}

	/** The owners that were told that they have the key, oldest first. */
	public List<String> owners() {
		return this.notifications.stream().map(ReleaseNotification::owner).filter(Objects::nonNull).toList();
	}

	/** The recalls, oldest first. */
	public List<String> recalls() {
		return this.recalls;
	}

	public int resubscriptions() {
		return this.resubscriptions.get();
	}

	/** The notification that came last. */
	public ReleaseNotification last() {
		return this.notifications.get(this.notifications.size() - 1);
	}

	/**
	 * Waits for the recalls of the keys of some claims, in that order, and of no others.
	 */
	public void awaitRecalls(Claim... claims) {
		List<String> expected = Stream.of(claims).map((claim) -> claim.owner() + " of " + claim.key()).toList();
		Eventually.within(this.patience, "recalls of " + expected, () -> this.recalls.size() >= expected.size());
		assertEquals(expected, this.recalls, "recalls");
	}

	/** Waits until the owner of a claim is told of the grant. */
	public void awaitGrant(Claim claim) {
		Eventually.within(this.patience, "the grant of " + claim.key() + " to " + claim.owner(),
				() -> this.notifications.stream().anyMatch((grant) -> claim.owner().equals(grant.owner())));
	}

	public void awaitWake(String key) {
		if (!this.hears) {
			return;
		}
		Eventually.within(this.patience, "the notification for " + key, () -> heard().contains(key));
	}

	void assertHeard(List<String> keys) {
		assertHeard(keys, "keys of the notifications");
	}

	void assertHeard(List<String> keys, String what) {
		if (this.hears) {
			assertEquals(keys, heard(), what);
		}
	}

	void assertWoken(List<Waiter> waiters) {
		if (this.hears) {
			assertEquals(waiters, waiters());
		}
	}

}
