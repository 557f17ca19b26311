package io.github.distributedlock.backend.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.Holder;
import org.jspecify.annotations.Nullable;

/**
 * The holders of a key: none; one; or, while it is shared, several, each of which has its
 * own end. Confined to the store's lock.
 */
final class Holding {

	// Of these two at most one has anything: one holder, or those that share.
	private @Nullable Holder alone;

	private long end;

	private final Map<Holder, Long> ends = new LinkedHashMap<>();

	/**
	 * Forgets those whose time is over.
	 */
	void purge(long now) {
		if (this.alone != null && now - this.end >= 0) {
			this.alone = null;
		}
		if (!this.ends.isEmpty()) {
			this.ends.values().removeIf((end) -> now - end >= 0);
		}
	}

	boolean isFree() {
		return this.alone == null && this.ends.isEmpty();
	}

	boolean isShared() {
		return !this.ends.isEmpty();
	}

	boolean has(Holder one) {
		return isAlone(one) || isAmong(one);
	}

	boolean isAlone(Holder one) {
		return one.equals(this.alone);
	}

	boolean isAmong(Holder member) {
		return this.ends.containsKey(member);
	}

	/**
	 * The holder, or one of those that share; {@code null} if the key is free.
	 */
	@Nullable Holder first() {
		return isShared() ? this.ends.keySet().iterator().next() : this.alone;
	}

	/**
	 * All of them, each with the time that it has left.
	 */
	List<LockStatus.Holder> describe(long now) {
		List<LockStatus.Holder> all = new ArrayList<>();
		if (this.alone != null) {
			all.add(this.alone.describe(LockMode.EXCLUSIVE, Duration.ofNanos(this.end - now)));
		}
		this.ends.forEach((holder, end) -> all.add(holder.describe(LockMode.SHARED, Duration.ofNanos(end - now))));
		return all;
	}

	/**
	 * When the time of the last of them is over.
	 */
	long end() {
		return this.ends.values().stream().reduce(Holding::later).orElse(this.end);
	}

	void set(Holder one, long end) {
		this.ends.clear();
		this.alone = one;
		this.end = end;
	}

	void share(Holder member, long end) {
		this.alone = null;
		this.ends.merge(member, end, Holding::later);
	}

	/**
	 * Lets one of them live at least so long.
	 */
	void extend(Holder one, long end) {
		if (isAlone(one)) {
			this.end = later(this.end, end);
		}
		else {
			this.ends.merge(one, end, Holding::later);
		}
	}

	/**
	 * Takes the key from an owner that has it alone.
	 */
	boolean removeAlone(String owner) {
		boolean owned = this.alone != null && this.alone.state() == Holder.State.OWNER
				&& this.alone.name().equals(owner);
		if (owned) {
			this.alone = null;
		}
		return owned;
	}

	boolean remove(Holder one) {
		if (isAlone(one)) {
			this.alone = null;
			return true;
		}
		return this.ends.remove(one) != null;
	}

	private static long later(long one, long other) {
		return (other - one > 0) ? other : one;
	}

}
