package io.github.distributedlock.benchmark;

import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * A lock that does not wait, asked again and again with 1 ms between.
 */
abstract class Spinning implements Locks.Mutex {

	static final long LEASE_MILLIS = 30_000;

	static final String RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then"
			+ " return redis.call('del', KEYS[1]) else return 0 end";

	private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(1);

	private final String thread = UUID.randomUUID().toString();

	private final LongAdder attempts;

	private long count;

	private String owner = "";

	Spinning(LongAdder attempts) {
		this.attempts = attempts;
	}

	abstract boolean tryLock(String owner);

	abstract void unlock(String owner);

	@Override
	public final void lock() {
		this.owner = this.thread + ":" + this.count++;
		this.attempts.increment();
		while (!tryLock(this.owner)) {
			LockSupport.parkNanos(PAUSE);
			this.attempts.increment();
		}
	}

	@Override
	public final void unlock() {
		unlock(this.owner);
	}

}
