package io.github.distributedlock.backend.redis.atomic;

import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.Link;
import io.github.distributedlock.backend.redis.wire.LockCodec;
import io.github.distributedlock.backend.redis.wire.RedisRefusal;
import io.github.distributedlock.backend.redis.wire.Values;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One lock that is given back by plain commands: to the oldest waiter that can hear, or
 * to none.
 * <p>
 * A waiter is only looked at before the lock is reserved for it. So if this ends in
 * between, for whatever reason, it still waits. If it waits no more once the lock is
 * reserved for it, since it has got the lock by itself meanwhile, or given up, it would
 * make nothing of a wake-up, and the lock goes to the next.
 * <p>
 * Without an atomic comparison a reservation is not touched again, since its waiter may
 * be just about to take it. So whether it hears is found out before; and where it waits
 * no more all the same, the reservation runs out.
 */
final class PlainRelease {

	private static final Logger logger = LoggerFactory.getLogger(PlainRelease.class);

	private final CompareAndSet compareAndSet;

	private final WaitingList waiters;

	private final Link link;

	private final String key;

	private final byte[] name;

	private final @Nullable String value;

	// What the lock has now, as far as we know; null if it is free.
	private @Nullable String current;

	private boolean owned;

	/**
	 * Begins to give back.
	 * @param compareAndSet how to change the lock
	 * @param waiters the waiters
	 * @param link the way to the server
	 * @param key the user's key
	 * @param name the name of the lock in Redis
	 * @param value what gives the right to do so: the owner, or a reservation;
	 * {@code null} if the lock is free already, and only its waiters are to be told
	 */
	PlainRelease(CompareAndSet compareAndSet, WaitingList waiters, Link link, String key, byte[] name,
			@Nullable String value) {
		this.compareAndSet = compareAndSet;
		this.waiters = waiters;
		this.link = link;
		this.key = key;
		this.name = name;
		this.value = value;
		this.current = value;
	}

	/**
	 * Does it.
	 * @return whether the lock had that value
	 */
	boolean run() {
		try {
			boolean over = false;
			while (!over) {
				Waiter waiter = this.waiters.oldest(this.link, this.key);
				over = (waiter != null) ? passTo(waiter) : free();
			}
		}
		catch (RuntimeException ex) {
			if (!this.owned) {
				throw ex;
			}
			// It is given back, and a waiter that is not woken polls.
			logger.debug("Could not wake the waiters of lock '{}'", LockException.printable(this.key), ex);
		}
		return this.owned;
	}

	private boolean passTo(Waiter waiter) {
		boolean atomic = this.compareAndSet.isAtomic();
		if (!atomic && !this.waiters.hears(this.link, this.key, waiter)) {
			this.waiters.remove(this.link, this.key, waiter);
			return false;
		}
		String reservation = LockCodec.reservedFor(waiter);
		try {
			if (!reserve(reservation)) {
				return isSettled();
			}
		}
		catch (RuntimeException ex) {
			if (this.current == null || RedisRefusal.of(ex) != RedisRefusal.OOM) {
				throw ex;
			}
			// No memory for a reservation, nor for anybody's lock. But to remove one
			// takes none.
			return free();
		}
		become(reservation);
		boolean woken = this.waiters.remove(this.link, this.key, waiter)
				&& this.waiters.wake(this.link, this.key, waiter);
		return woken || !atomic;
	}

	private boolean reserve(String reservation) {
		long millis = WaitingList.RESERVATION.toMillis();
		return (this.current != null)
				? this.compareAndSet.replace(this.link, this.name, KeyNames.bytes(this.current),
						KeyNames.bytes(reservation), millis)
				: Values.setIfAbsent(this.link, this.name, reservation, millis);
	}

	// Not over when it is free: a waiter that registered meanwhile may not have seen
	// that.
	private boolean free() {
		if (this.current == null) {
			return true;
		}
		if (!this.compareAndSet.replace(this.link, this.name, KeyNames.bytes(this.current), null, 0)) {
			return isSettled();
		}
		become(null);
		return false;
	}

	private void become(@Nullable String next) {
		this.owned |= this.current != null && this.current.equals(this.value);
		this.current = next;
	}

	// It is not what it was thought to be. If its time was over, it is free. Else it is
	// another owner's; or still ours, but must not be touched so near to its end.
	private boolean isSettled() {
		String found = (this.current != null) ? Values.get(this.link, this.name) : "";
		this.owned |= found != null && found.equals(this.value);
		this.current = null;
		return found != null;
	}

}
