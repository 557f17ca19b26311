package io.github.distributedlock;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * An event of a lock of this JVM. An event is about one request or, if the event has a
 * {@code key}, about that one key of the request; {@link #keys()} covers both cases.
 * <p>
 * A later version may have more kinds of events, and only this library implements this
 * interface. A {@code switch} over the kinds needs a {@code default}, and ignores unknown
 * kinds.
 *
 * @since 1.0
 */
public interface LockEvent {

	/**
	 * Returns the request that the event is about: the request that was made, or the
	 * request whose hold has the key.
	 * @return the request
	 */
	LockRequest request();

	/**
	 * Returns the low-cardinality {@linkplain LockRequest#name(String) name} of the
	 * request, for meters.
	 * @return the name
	 */
	default String name() {
		return request().name();
	}

	/**
	 * Returns the keys that the event is about: all keys of the request, in the order
	 * given there, or one of these keys.
	 * @return the keys, at least one
	 */
	default List<String> keys() {
		return request().keys();
	}

	/**
	 * A request got a lock from the store. A request that re-enters a lock causes no
	 * event.
	 *
	 * @param request the request
	 * @param owner the owner token
	 * @param waited the time from asking to having
	 */
	record Acquired(LockRequest request, String owner, Duration waited) implements LockEvent {
	}

	/**
	 * A request ended without a lock because a key was busy.
	 *
	 * @param request the request
	 * @param waited the time from asking to giving up
	 * @param holder the owner token of the holder where it is known
	 */
	record NotAcquired(LockRequest request, Duration waited, @Nullable String holder) implements LockEvent {
	}

	/**
	 * A lock was released.
	 *
	 * @param request the request
	 * @param key the key
	 * @param owner the owner token
	 * @param held the time from acquisition to release
	 */
	record Released(LockRequest request, String key, String owner, Duration held) implements LockEvent {

		@Override
		public List<String> keys() {
			return List.of(this.key);
		}

	}

	/**
	 * A lease was renewed late: less than half of the time between renewals was left of
	 * the lease.
	 *
	 * @param request the request
	 * @param key the key
	 * @param owner the owner token
	 * @param remaining the remaining lease before the renewal
	 */
	record RenewedLate(LockRequest request, String key, String owner, Duration remaining) implements LockEvent {

		@Override
		public List<String> keys() {
			return List.of(this.key);
		}

	}

	/**
	 * A lock is no longer held although the lock was not released. If the release of a
	 * lock discovers the loss, no {@link Released} event follows. If the key was handed
	 * over inside the JVM before the discovery, a {@code Released} event preceded: this
	 * event is about the last hold that had the key, and earlier holds may have been
	 * without the key, too. A key that is lost while the request waits for other keys is
	 * acquired anew, without an event.
	 *
	 * @param request the request
	 * @param key the key
	 * @param owner the owner token
	 * @param reason the reason of the loss
	 * @param held the time from acquisition to loss
	 */
	record Lost(LockRequest request, String key, String owner, Reason reason, Duration held) implements LockEvent {

		@Override
		public List<String> keys() {
			return List.of(this.key);
		}

		/**
		 * The reason of a loss.
		 */
		public enum Reason {

			/**
			 * A fixed lease ran out before the lock was released, or before the store
			 * answered the release.
			 */
			LEASE_EXPIRED,

			/**
			 * The longest hold of the request was reached.
			 */
			MAX_HOLD_TIME,

			/**
			 * The lease was not renewed in time: the store could not be reached, or this
			 * JVM or the machine was paused. Or the release took longer than the
			 * remaining lease.
			 */
			NOT_RENEWED,

			/**
			 * The store says that the key is no longer ours.
			 */
			TAKEN,

			/**
			 * An operator has {@linkplain LockAdmin#forceRelease released the key by
			 * force}.
			 */
			FORCED_RELEASE,

			/**
			 * The lock engine was closed; the lease is left to run out.
			 */
			SHUTDOWN

		}

	}

	/**
	 * The store could not be reached to release a lock. The release is retried in the
	 * background until the lease has run out.
	 *
	 * @param request the request
	 * @param key the key
	 * @param owner the owner token
	 * @param cause the failure of the release
	 */
	record ReleaseDeferred(LockRequest request, String key, String owner,
			LockBackendException cause) implements LockEvent {

		@Override
		public List<String> keys() {
			return List.of(this.key);
		}

	}

}
