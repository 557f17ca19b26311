package io.github.distributedlock;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Something that happened to a lock of this JVM. An event is about one request, or, where
 * it has a {@code key}, about that one key of it; {@link #keys()} serves both.
 * <p>
 * A later version may have more kinds of events, and only this library implements this
 * interface. A {@code switch} over the kinds needs a {@code default}, and ignores the
 * kinds that it does not know.
 *
 * @since 1.0
 */
public interface LockEvent {

	/**
	 * The request that the event is about: the one that was made, or whose hold has the
	 * key.
	 * @return the request
	 */
	LockRequest request();

	/**
	 * The low-cardinality {@linkplain LockRequest#name(String) name} of the request, for
	 * meters.
	 * @return the name
	 */
	default String name() {
		return request().name();
	}

	/**
	 * The keys that the event is about: those of the request, in the order given there,
	 * or one of them.
	 * @return the keys, at least one
	 */
	default List<String> keys() {
		return request().keys();
	}

	/**
	 * A request got its lock from the store. Re-entering one is no event.
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
	 * A lease was renewed, but less than half of the time between renewals was left of
	 * it.
	 *
	 * @param request the request
	 * @param key the key
	 * @param owner the owner token
	 * @param remaining what had been left of the lease
	 */
	record RenewedLate(LockRequest request, String key, String owner, Duration remaining) implements LockEvent {

		@Override
		public List<String> keys() {
			return List.of(this.key);
		}

	}

	/**
	 * A lock is no longer held although it was not released. If the loss is found out
	 * only when the lock is released, there is no {@link Released}. If the key had been
	 * handed over inside the JVM by then, there was a {@code Released} before: this event
	 * is about the last hold that had the key, and the holds before it may have been
	 * without the key, too. A key that is lost while its request waits for its other keys
	 * is acquired anew, and there is no event.
	 *
	 * @param request the request
	 * @param key the key
	 * @param owner the owner token
	 * @param reason why
	 * @param held the time from having to losing
	 */
	record Lost(LockRequest request, String key, String owner, Reason reason, Duration held) implements LockEvent {

		@Override
		public List<String> keys() {
			return List.of(this.key);
		}

		/**
		 * Why a lock was lost.
		 */
		public enum Reason {

			/**
			 * A fixed lease ran out before the lock was released, or before the store
			 * answered that.
			 */
			LEASE_EXPIRED,

			/**
			 * The longest hold of the request was reached.
			 */
			MAX_HOLD_TIME,

			/**
			 * The lease was not renewed in time: the store could not be reached, or this
			 * JVM or its machine was paused. Or the release took longer than what was
			 * left of the lease.
			 */
			NOT_RENEWED,

			/**
			 * The store says that the key is no longer ours.
			 */
			TAKEN,

			/**
			 * The lock engine was closed; the lease is left to run out.
			 */
			SHUTDOWN

		}

	}

	/**
	 * The store could not be reached to release a lock; this is retried in the background
	 * until the lease has run out.
	 *
	 * @param request the request
	 * @param key the key
	 * @param owner the owner token
	 * @param cause what the store answered
	 */
	record ReleaseDeferred(LockRequest request, String key, String owner,
			LockBackendException cause) implements LockEvent {

		@Override
		public List<String> keys() {
			return List.of(this.key);
		}

	}

}
