package io.github.distributedlock.backend.memory;

import java.util.LinkedHashSet;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * One key: its value, until when it lives, and who waits for it, oldest first. Confined
 * to the store's lock.
 */
final class Slot {

	private final Set<String> waiters = new LinkedHashSet<>();

	private @Nullable String value;

	private long expiry;

	@Nullable String valueAt(long now) {
		if (this.value != null && now - this.expiry >= 0) {
			this.value = null;
		}
		return this.value;
	}

	void set(String value, long expiry) {
		this.value = value;
		this.expiry = expiry;
	}

	void extend(long expiry) {
		if (expiry - this.expiry > 0) {
			this.expiry = expiry;
		}
	}

	void clear() {
		this.value = null;
	}

	void register(String instance) {
		this.waiters.add(instance);
	}

	void unregister(String instance) {
		this.waiters.remove(instance);
	}

	@Nullable String pollWaiter() {
		String oldest = this.waiters.isEmpty() ? null : this.waiters.iterator().next();
		this.waiters.remove(oldest);
		return oldest;
	}

	boolean isIdleAt(long now) {
		return valueAt(now) == null && this.waiters.isEmpty();
	}

}
