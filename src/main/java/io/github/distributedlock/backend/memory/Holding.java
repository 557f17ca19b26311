package io.github.distributedlock.backend.memory;

import java.util.LinkedHashMap;
import java.util.Map;

import io.github.distributedlock.backend.Claim;
import org.jspecify.annotations.Nullable;

/**
 * Who has a key: nobody; one value; or, while it is shared, several, each of which has
 * its own end. Confined to the store's lock.
 */
final class Holding {

	// Of these two at most one has anything: one value, or those who share.
	private @Nullable String value;

	private long end;

	private final Map<String, Long> ends = new LinkedHashMap<>();

	/**
	 * Forgets whose time is over.
	 */
	void purge(long now) {
		if (this.value != null && now - this.end >= 0) {
			this.value = null;
		}
		if (!this.ends.isEmpty()) {
			this.ends.values().removeIf((end) -> now - end >= 0);
		}
	}

	boolean isFree() {
		return this.value == null && this.ends.isEmpty();
	}

	boolean isShared() {
		return !this.ends.isEmpty();
	}

	boolean has(String one) {
		return isAlone(one) || isAmong(one);
	}

	boolean isAlone(String value) {
		return value.equals(this.value);
	}

	boolean isAmong(String member) {
		return this.ends.containsKey(member);
	}

	/**
	 * The value, or the owner token of one of those who share.
	 */
	@Nullable String value() {
		if (!isShared()) {
			return this.value;
		}
		String first = this.ends.keySet().iterator().next();
		return first.startsWith(Claim.SHARED) ? first.substring(Claim.SHARED.length()) : first;
	}

	/**
	 * When the last of those who have it is over.
	 */
	long end() {
		return this.ends.values().stream().reduce(Holding::later).orElse(this.end);
	}

	void set(String value, long end) {
		this.ends.clear();
		this.value = value;
		this.end = end;
	}

	void share(String member, long end) {
		this.value = null;
		this.ends.merge(member, end, Holding::later);
	}

	/**
	 * Lets one that has the key live at least so long.
	 */
	void extend(String one, long end) {
		if (isAlone(one)) {
			this.end = later(this.end, end);
		}
		else {
			this.ends.merge(one, end, Holding::later);
		}
	}

	boolean remove(String one) {
		if (isAlone(one)) {
			this.value = null;
			return true;
		}
		return this.ends.remove(one) != null;
	}

	private static long later(long one, long other) {
		return (other - one > 0) ? other : one;
	}

}
