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

	private final Map<String, Long> ends = new LinkedHashMap<>();

	private boolean shared;

	/**
	 * Forgets whose time is over.
	 */
	void purge(long now) {
		this.ends.values().removeIf((end) -> now - end >= 0);
	}

	boolean isFree() {
		return this.ends.isEmpty();
	}

	boolean isShared() {
		return this.shared && !isFree();
	}

	boolean has(String one) {
		return this.ends.containsKey(one);
	}

	boolean isAlone(String value) {
		return !this.shared && this.ends.containsKey(value);
	}

	boolean isAmong(String member) {
		return this.shared && this.ends.containsKey(member);
	}

	/**
	 * The value, or the owner token of one of those who share.
	 */
	@Nullable String value() {
		if (isFree()) {
			return null;
		}
		String first = this.ends.keySet().iterator().next();
		return first.startsWith(Claim.SHARED) ? first.substring(Claim.SHARED.length()) : first;
	}

	void set(String value, long end) {
		this.ends.clear();
		this.shared = false;
		this.ends.put(value, end);
	}

	void share(String member, long end) {
		if (!this.shared) {
			this.ends.clear();
			this.shared = true;
		}
		extend(member, end);
	}

	/**
	 * Lets one live at least so long.
	 */
	void extend(String one, long end) {
		this.ends.merge(one, end, (before, now) -> (now - before > 0) ? now : before);
	}

	boolean remove(String one) {
		return this.ends.remove(one) != null;
	}

}
