package io.github.distributedlock.engine.runtime;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.DowngradableLocks;
import io.github.distributedlock.backend.GrantingQueue;
import io.github.distributedlock.backend.HandOverResult;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockFeature;
import io.github.distributedlock.backend.MultiKeyLocks;
import io.github.distributedlock.backend.OneStepHandOver;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.ReleaseNotifications;
import io.github.distributedlock.backend.ReleaseNotifications.Listening;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.backend.WaiterQueue;
import org.jspecify.annotations.Nullable;

/**
 * A backend with all that one may add: it is asked once what it adds, and what it does
 * not add is done without. Safe for use by many threads, as the backend is.
 */
public final class Store {

	private static final Duration SHORTEST_RESERVATION = Duration.ofMillis(20);

	private final LockBackend backend;

	private final @Nullable WaiterQueue waiters;

	private final @Nullable GrantingQueue granting;

	private final @Nullable ReleaseNotifications notifications;

	private final @Nullable OneStepHandOver handOver;

	private final @Nullable MultiKeyLocks multiKey;

	private final @Nullable DowngradableLocks downgradable;

	/**
	 * Asks a backend what it adds.
	 * @throws IllegalArgumentException if that does not go together
	 */
	public Store(LockBackend backend) {
		this.backend = backend;
		this.waiters = (backend instanceof WaiterQueue queue) ? queue : null;
		this.granting = (backend instanceof GrantingQueue queue) ? queue : null;
		this.notifications = (backend instanceof ReleaseNotifications own) ? own : null;
		this.handOver = (backend instanceof OneStepHandOver own) ? own : null;
		this.multiKey = (backend instanceof MultiKeyLocks own) ? own : null;
		this.downgradable = (backend instanceof DowngradableLocks own) ? own : null;
		check();
	}

	private void check() {
		if (this.waiters == null && this.backend.features().contains(LockFeature.FAIR)) {
			throw new IllegalArgumentException(this.backend.getClass().getName()
					+ " offers fair locks, but keeps no places: implement WaiterQueue, or leave out LockFeature.FAIR");
		}
		if (this.waiters != null && this.waiters.reservation().compareTo(SHORTEST_RESERVATION) < 0) {
			throw new IllegalArgumentException("The reservation of " + this.backend.getClass().getName() + ", "
					+ this.waiters.reservation().toMillis() + " ms, is too short for a waiter to ask in time: at least "
					+ SHORTEST_RESERVATION.toMillis() + " ms");
		}
	}

	public LockBackend backend() {
		return this.backend;
	}

	public AcquireResult acquire(Claim claim) {
		return this.backend.acquire(claim);
	}

	/**
	 * Registers only if the store has a queue.
	 */
	public AcquireResult acquireOrRegister(Claim claim) {
		return (this.waiters != null) ? this.waiters.acquireOrRegister(claim) : this.backend.acquire(claim);
	}

	/**
	 * Gives a key back.
	 * @param rest for how much longer the key is to block others, in nanoseconds, or 0
	 * @return whether the owner had the key
	 */
	public boolean release(String key, String owner, long rest) {
		// Rounded up, as stores count in milliseconds.
		return (rest > 0)
				? this.backend.leaveToExpire(key, owner, Duration.ofMillis(TimeUnit.NANOSECONDS.toMillis(rest) + 1))
				: this.backend.release(key, owner);
	}

	/**
	 * Ends a registration.
	 * @param owners those that may have been granted the key, and do not want it
	 */
	public void withdraw(String key, Waiter waiter, Set<String> owners) {
		if (this.granting != null) {
			this.granting.withdraw(key, waiter, owners);
		}
		else if (this.waiters != null) {
			this.waiters.withdraw(key, waiter);
		}
	}

	/**
	 * Undoes a claim that may have been carried out.
	 */
	public void forget(Claim claim) {
		if (this.granting != null) {
			this.granting.forget(claim);
		}
		else {
			this.backend.release(claim.key(), claim.owner());
		}
	}

	/**
	 * Whether the claims of an instance may be granted.
	 */
	public boolean grantsTo(String instance) {
		return this.granting != null && this.granting.grantsTo(instance);
	}

	/**
	 * Lets a claim be granted, if the store does that.
	 */
	public Claim grantable(Claim claim, long number) {
		return (this.granting != null) ? claim.number(number).grantLease(this.granting.grantLease()) : claim;
	}

	/**
	 * For how long the store keeps a released key for a waiter, {@code otherwise} if it
	 * has no queue.
	 */
	public Duration reservation(Duration otherwise) {
		return (this.waiters != null) ? this.waiters.reservation() : otherwise;
	}

	/**
	 * Whether others can tell by the store that an instance waits.
	 */
	public boolean keepsPlacesOf(String instance) {
		return this.waiters != null && this.waiters.keepsPlacesOf(instance);
	}

	/**
	 * Passes a key on, in two steps if one is not possible.
	 */
	public HandOverResult pass(String owner, Claim next, boolean yields) {
		if (this.handOver != null) {
			return this.handOver.pass(owner, next, yields);
		}
		boolean owned = this.backend.release(next.key(), owner);
		return HandOverResult.of(owned, acquireOrRegister(next));
	}

	/**
	 * Shares a key, if that is possible.
	 * @return whether the owner owns it, as far as the store was asked
	 */
	public boolean downgrade(String key, String owner) {
		return this.downgradable == null || this.downgradable.downgrade(key, owner);
	}

	public Listening listen(String instance, ReleaseListener listener) {
		return (this.notifications != null) ? this.notifications.listen(instance, listener) : Listening.DEAF;
	}

	public boolean coversInOneStep(List<String> keys) {
		return this.multiKey != null && this.multiKey.coversInOneStep(keys);
	}

	public boolean acquireAll(List<Claim> claims) {
		return multiKey().acquireAll(claims);
	}

	public List<Boolean> releaseAll(List<String> keys, String owner) {
		return multiKey().releaseAll(keys, owner);
	}

	private MultiKeyLocks multiKey() {
		if (this.multiKey == null) {
			throw new IllegalStateException("The store does not cover several keys in one step");
		}
		return this.multiKey;
	}

}
