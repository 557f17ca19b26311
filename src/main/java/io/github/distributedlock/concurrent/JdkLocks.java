package io.github.distributedlock.concurrent;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockInterruptedException;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockUpgradeException;

/**
 * Makes a {@link Lock} or a {@link ReadWriteLock} of a key.
 *
 * <pre class="code">
 * Lock lock = jdkLocks.lock("order:42");
 * lock.lock();
 * try {
 *     …
 * }
 * finally {
 *     lock.unlock();
 * }
 * </pre>
 *
 * The locks are reentrant, and behave like
 * {@link java.util.concurrent.locks.ReentrantLock} and
 * {@link java.util.concurrent.locks.ReentrantReadWriteLock}, with these differences:
 * <ul>
 * <li>A lock can be lost. Then {@code unlock} throws an
 * {@link IllegalMonitorStateException} with a {@link LockLostException} as its cause, if
 * the loss is known: where another thread of the JVM waits, {@code unlock} does not ask
 * the store, as {@link io.github.distributedlock.LockHandle#release()} says. Until
 * {@code unlock}, each method that acquires the lock, for reading or writing, throws the
 * {@code LockLostException}.
 * <li>A lock whose {@link io.github.distributedlock.LockHandle} was closed is not held:
 * {@code unlock} throws an {@code IllegalMonitorStateException}, and until then each
 * method that acquires the lock throws an {@link IllegalStateException}.
 * <li>If the store fails, {@code tryLock} throws a
 * {@link io.github.distributedlock.LockBackendException}; with a wait time, when that
 * time is over. {@code lock} and {@code lockInterruptibly} wait until the store works
 * again, and throw the exception only if the store refuses.
 * <li>{@code tryLock} of a reader does not overtake a writer that waits, and nobody takes
 * a lock that is reserved for a waiter: in both cases {@code tryLock} returns
 * {@code false}.
 * <li>A thread that has the read lock and asks for the write lock does not wait for
 * itself: {@code tryLock} returns {@code false} at once, and {@code lock} and
 * {@code lockInterruptibly} throw a {@link LockUpgradeException}. The same goes for a
 * thread that has one of several permits and asks for fewer.
 * <li>{@code newCondition} throws an {@link UnsupportedOperationException}.
 * </ul>
 * All locks of one key that come from the same {@code JdkLocks} are one lock, if they
 * have the same number of permits, and cost nothing to keep or to make again. A thread
 * that has the lock re-enters the lock as held, whatever else the new request says. Safe
 * for use by many threads.
 *
 * @since 1.0
 */
public final class JdkLocks {

	private final DistributedLock distributedLock;

	private final ThreadHolds holds = new ThreadHolds();

	/**
	 * Creates the factory of locks.
	 * @param distributedLock acquires and releases the locks
	 */
	public JdkLocks(DistributedLock distributedLock) {
		this.distributedLock = Objects.requireNonNull(distributedLock, "distributedLock");
	}

	/**
	 * Returns the exclusive lock of a key.
	 * @param key the key
	 * @return the lock
	 */
	public Lock lock(String key) {
		return lock(LockRequest.of(key));
	}

	/**
	 * Returns the lock that a request describes, such as a fair one.
	 * @param request the keys to lock, and how. Each method of the lock says how long to
	 * wait, and whether an interrupt ends the wait
	 * @return the lock
	 * @throws IllegalArgumentException if the request has a wait time or is detached
	 */
	public Lock lock(LockRequest request) {
		request.requireValid();
		if (request.waitTime() != null) {
			throw refused(request, "with a waitTime, but lock() waits as long as it takes. Use tryLock(time, unit)");
		}
		if (request.detached()) {
			throw refused(request, "as detached, but such a lock is of the thread that locks it. Use a LockHandle");
		}
		return new KeyLock(request);
	}

	/**
	 * Returns the read lock and the write lock of a key.
	 * @param key the key
	 * @return the locks
	 */
	public ReadWriteLock readWriteLock(String key) {
		return readWriteLock(LockRequest.of(key));
	}

	/**
	 * Returns the read lock and the write lock that a request describes. Fair and fenced
	 * apply to the write lock only: readers always queue up behind all writers that wait.
	 * @param request the keys to lock, and how; its mode is ignored
	 * @return the locks
	 * @throws IllegalArgumentException if the request has a wait time or is detached
	 */
	public ReadWriteLock readWriteLock(LockRequest request) {
		return new ReadAndWrite(lock(request.fair(false).fenced(false).mode(LockMode.SHARED)),
				lock(request.mode(LockMode.EXCLUSIVE)));
	}

	private static IllegalArgumentException refused(LockRequest request, String what) {
		return new IllegalArgumentException(
				"Lock " + LockException.printable(request.keys()) + " was requested " + what);
	}

	private record ReadAndWrite(Lock readLock, Lock writeLock) implements ReadWriteLock {
	}

	/**
	 * The lock that a request describes. Safe for use by many threads.
	 */
	private final class KeyLock implements Lock {

		/**
		 * The longest wait of one request.
		 */
		private static final Duration LONGEST = Duration.ofDays(365);

		private final LockRequest request;

		private KeyLock(LockRequest request) {
			this.request = request;
		}

		@Override
		public void lock() {
			while (!acquire(this.request.waitTime(LONGEST).interruptible(false))) {
				// 365 days are over: wait again.
			}
		}

		@Override
		public void lockInterruptibly() throws InterruptedException {
			while (!acquireInterruptibly(LONGEST)) {
				// 365 days are over: wait again.
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
			long longest = Math.min(time, unit.convert(LONGEST));
			try {
				return acquireInterruptibly(Duration.ofNanos(unit.toNanos(Math.max(0, longest))));
			}
			catch (LockUpgradeException ex) {
				return false;
			}
		}

		@Override
		public void unlock() {
			if (!JdkLocks.this.holds.exit(this.request)) {
				throw new IllegalMonitorStateException(
						this + " is not held by this thread. Only the thread that locked it may unlock it");
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
				throw (InterruptedException) new InterruptedException(ex.getMessage()).initCause(ex);
			}
		}

		private boolean acquire(LockRequest request) {
			if (JdkLocks.this.holds.reenter(request)) {
				return true;
			}
			Optional<LockHandle> handle = JdkLocks.this.distributedLock.tryAcquire(request);
			handle.ifPresent((acquired) -> JdkLocks.this.holds.add(request, acquired));
			return handle.isPresent();
		}

		@Override
		public String toString() {
			return "Lock " + LockException.printable(this.request.keys()) + " (" + this.request.mode() + ")";
		}

	}

}
