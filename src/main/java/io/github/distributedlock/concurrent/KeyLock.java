package io.github.distributedlock.concurrent;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockInterruptedException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockUpgradeException;

/**
 * What a request describes, as a {@link Lock}. Safe for use by many threads.
 */
final class KeyLock implements Lock {

	/**
	 * The longest wait of one request.
	 */
	private static final Duration LONGEST = Duration.ofDays(365);

	private final DistributedLock distributedLock;

	private final LockRequest request;

	private final ThreadHolds holds;

	KeyLock(DistributedLock distributedLock, LockRequest request, ThreadHolds holds) {
		this.distributedLock = distributedLock;
		this.request = request;
		this.holds = holds;
	}

	@Override
	public void lock() {
		boolean locked = false;
		while (!locked) {
			locked = acquire(this.request.waitTime(LONGEST).interruptible(false));
		}
	}

	@Override
	public void lockInterruptibly() throws InterruptedException {
		boolean locked = false;
		while (!locked) {
			locked = acquireInterruptibly(LONGEST);
		}
	}

	@Override
	public boolean tryLock() {
		try {
			return acquire(this.request.interruptible(false));
		}
		catch (LockUpgradeException ex) {
			return false;
		}
	}

	@Override
	public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
		long longest = unit.convert(LONGEST);
		Duration waitTime = Duration.ofNanos(unit.toNanos(Math.max(0, Math.min(time, longest))));
		try {
			return acquireInterruptibly(waitTime);
		}
		catch (LockUpgradeException ex) {
			return false;
		}
	}

	@Override
	public void unlock() {
		ThreadHold hold = this.holds.of(this.request);
		if (hold == null) {
			throw new IllegalMonitorStateException(
					this + " is not held by this thread. Only the thread that locked it may unlock it");
		}
		try {
			hold.exit();
		}
		finally {
			if (hold.isOver()) {
				this.holds.remove(this.request);
			}
		}
	}

	@Override
	public Condition newCondition() {
		throw new UnsupportedOperationException(this + " has no conditions");
	}

	private boolean acquireInterruptibly(Duration waitTime) throws InterruptedException {
		if (Thread.interrupted()) {
			throw new InterruptedException("Interrupted before " + this + " was acquired");
		}
		try {
			return acquire(this.request.waitTime(waitTime).interruptible(true));
		}
		catch (LockInterruptedException ex) {
			Thread.interrupted();
			InterruptedException exception = new InterruptedException(ex.getMessage());
			exception.initCause(ex);
			throw exception;
		}
	}

	private boolean acquire(LockRequest request) {
		ThreadHold hold = this.holds.of(request);
		if (hold != null) {
			hold.reenter();
			return true;
		}
		this.holds.checkHeld(request);
		Optional<LockHandle> handle = this.distributedLock.tryAcquire(request);
		handle.ifPresent((acquired) -> this.holds.add(request, new ThreadHold(acquired)));
		return handle.isPresent();
	}

	@Override
	public String toString() {
		return "Lock " + LockException.printable(this.request.keys()) + " (" + this.request.mode() + ")";
	}

}
