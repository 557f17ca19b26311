package io.github.distributedlock.concurrent;

import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.IntSupplier;

import io.github.distributedlock.LockRequest;
import io.github.distributedlock.engine.LockEngine;

/**
 * A lock of each sort, the JDK's own or ours, for the same tests.
 */
interface Locks {

	Lock mutex();

	Lock fair();

	/**
	 * How many threads are in the line of the fair one.
	 */
	int inLine();

	ReadWriteLock readWrite();

	/**
	 * The JDK's.
	 */
	record Jdk(Lock mutex, ReentrantLock fair, ReadWriteLock readWrite) implements Locks {

		Jdk() {
			this(new ReentrantLock(), new ReentrantLock(true), new ReentrantReadWriteLock());
		}

		@Override
		public int inLine() {
			return this.fair.getQueueLength();
		}

	}

	record Ours(Lock mutex, Lock fair, ReadWriteLock readWrite, IntSupplier line) implements Locks {

		static Ours of(LockEngine engine) {
			JdkLocks locks = new JdkLocks(engine);
			return new Ours(locks.lock("mutex"), locks.lock(LockRequest.of("fair").fair(true)),
					locks.readWriteLock("read-write"), () -> engine.inspect("fair").waiters().size());
		}

		@Override
		public int inLine() {
			return this.line.getAsInt();
		}

	}

}
