package io.github.distributedlock.benchmark;

import java.util.concurrent.locks.Lock;

/**
 * A lock with the interface of the JDK.
 *
 * @param delegate the lock
 */
record JdkMutex(Lock delegate) implements Locks.Mutex {

	@Override
	public void lock() {
		this.delegate.lock();
	}

	@Override
	public void unlock() {
		this.delegate.unlock();
	}

}
