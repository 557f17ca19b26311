package io.github.distributedlock.engine.queue;

import java.util.HashSet;
import java.util.Set;

import io.github.distributedlock.backend.ReleaseNotification;
import org.jspecify.annotations.Nullable;

/**
 * What the store may have granted to the requests of one queue, without their knowing.
 * <p>
 * Invariants: an owner to which the store may yet grant the key, or has, is the current
 * request's, or held, or unwanted; so whichever request or withdrawal comes next names
 * it. None that is held is unwanted: whatever names an unwanted owner takes the key from
 * it. Safe for use by many threads; whether a request accepts a grant or gives up is
 * decided by its own thread alone.
 */
final class Grants {

	/**
	 * The owner that has the key, or had it last.
	 */
	private @Nullable String held;

	/**
	 * Owners of requests that have ended, and those that were heard of and not accepted.
	 */
	private Set<String> unwanted = Set.of();

	private @Nullable ReleaseNotification latest;

	/**
	 * A grant was heard of.
	 * @return {@code false} if it is known already, since its owner has the key
	 */
	synchronized boolean heard(ReleaseNotification grant, String owner) {
		if (owner.equals(this.held)) {
			return false;
		}
		add(owner);
		this.latest = grant;
		return true;
	}

	synchronized boolean isHeld(String owner) {
		return owner.equals(this.held);
	}

	/**
	 * The grant that was heard of last, which then counts no more as heard.
	 */
	synchronized @Nullable ReleaseNotification take() {
		ReleaseNotification latest = this.latest;
		this.latest = null;
		return latest;
	}

	/**
	 * A request has ended without the key.
	 */
	synchronized void gaveUp(String owner) {
		add(owner);
	}

	synchronized Set<String> unwanted() {
		return this.unwanted;
	}

	/**
	 * A command was answered that has taken the key from these owners, if one of them had
	 * it; but for one that was heard of meanwhile, which may have got it since.
	 */
	synchronized void settled(Set<String> owners) {
		Set<String> rest = new HashSet<>(this.unwanted);
		rest.removeIf((owner) -> owners.contains(owner) && (this.latest == null || !owner.equals(this.latest.owner())));
		this.unwanted = Set.copyOf(rest);
	}

	/**
	 * An owner has the key, and holds it from now on.
	 * @return the unwanted owners, which are now the caller's business
	 */
	synchronized Set<String> acquired(String owner) {
		this.latest = null;
		settled(Set.of(owner));
		Set<String> rest = this.unwanted;
		this.unwanted = Set.of();
		this.held = owner;
		return rest;
	}

	private void add(String owner) {
		Set<String> more = new HashSet<>(this.unwanted);
		more.add(owner);
		this.unwanted = Set.copyOf(more);
	}

}
