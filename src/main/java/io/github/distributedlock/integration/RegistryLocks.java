package io.github.distributedlock.integration;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;

import io.github.distributedlock.LockRequest;
import org.jspecify.annotations.Nullable;

/**
 * The locks of a registry: one of each key, for as long as anybody refers to it. Safe for
 * use by many threads.
 * <p>
 * Invariant: an entry is replaced or removed only after its lock was collected. What a
 * thread has locked, and how often, is not kept by the lock.
 *
 * @param <L> the type of the locks
 */
// Not Spring's map with weak references, which drops a value that is still referred to.
final class RegistryLocks<L extends Lock> {

	private static final String NAME = "lock-registry";

	private final Function<LockRequest, L> maker;

	final Map<String, Entry<L>> entries = new ConcurrentHashMap<>();

	private final ReferenceQueue<L> collected = new ReferenceQueue<>();

	RegistryLocks(Function<LockRequest, L> maker) {
		this.maker = maker;
	}

	/**
	 * The lock of a key.
	 * @throws IllegalArgumentException if the key is no string, or a blank one
	 */
	L obtain(Object lockKey) {
		removeCollected();
		String key = key(lockKey);
		Entry<L> known = this.entries.get(key);
		L lock = (known != null) ? known.get() : null;
		while (lock == null) {
			Entry<L> made = new Entry<>(key, this.maker.apply(LockRequest.of(key).name(NAME)), this.collected);
			lock = this.entries.compute(key, (same, now) -> (now != null && now.get() != null) ? now : made).get();
		}
		return lock;
	}

	private void removeCollected() {
		for (Object entry = this.collected.poll(); entry != null; entry = this.collected.poll()) {
			this.entries.remove(((Entry<?>) entry).key, entry);
		}
	}

	/**
	 * The key of the lock that a registry is asked for.
	 * @throws IllegalArgumentException if it is no string
	 */
	static String key(Object lockKey) {
		if (lockKey instanceof String key) {
			return key;
		}
		throw new IllegalArgumentException("The key of a lock is a " + lockKey.getClass().getName()
				+ ", but its text may differ from JVM to JVM. Obtain the lock by a String");
	}

	static final class Entry<L> extends WeakReference<@Nullable L> {

		private final String key;

		private Entry(String key, L lock, ReferenceQueue<L> collected) {
			super(lock, collected);
			this.key = key;
		}

	}

}
