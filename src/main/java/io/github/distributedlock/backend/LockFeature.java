package io.github.distributedlock.backend;

import java.util.EnumSet;
import java.util.Set;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;

/**
 * A capability that a store may lack. If a store lacks {@link #SHARED}, {@link #PERMITS},
 * {@link #FAIR}, {@link #FENCING} or {@link #INSPECTION}, the engine refuses requests
 * that need the feature. The engine does without the other features.
 *
 * @since 1.0
 */
public enum LockFeature {

	/**
	 * Several owners at a time, in {@link LockMode#SHARED}.
	 */
	SHARED,

	/**
	 * A limited number of owners at a time: {@link Claim#permits()}. Each owner has a
	 * lease of its own. When an owner releases the key, the next waiters come in beside
	 * the other owners.
	 */
	PERMITS,

	/**
	 * Requests that are served in the order of their arrival. Takes {@link #PLACES}.
	 */
	FAIR,

	/**
	 * Fencing tokens.
	 */
	FENCING,

	/**
	 * Users see who holds a key, and who waits for the key: {@link LockBackend#inspect}.
	 */
	INSPECTION,

	/**
	 * Waiters are notified instead of polling: {@link LockBackend#listen}.
	 */
	NOTIFICATIONS,

	/**
	 * Each waiter has a place, and a released key is reserved for the oldest waiter, so
	 * that instances take turns, and no instance that is notified is starved:
	 * {@link LockBackend#acquireOrRegister}, {@link LockBackend#withdraw} and
	 * {@link LockBackend#reservation}.
	 */
	PLACES,

	/**
	 * A waiter gets a released key with its notification. The store makes the owner of
	 * the oldest waiter's last claim the owner of the key, for as long as that claim
	 * {@linkplain Claim#grantLease() says}, and then
	 * {@linkplain ReleaseNotification#granted notifies} the waiter, which need not ask
	 * again. Takes {@link #PLACES}.
	 * <p>
	 * Only claims with a {@linkplain Claim#number() number} are granted. The store keeps
	 * the last such claim of each waiter, until the waiter's next claim, or until the
	 * waiter is gone. Each step that would otherwise reserve a key grants the key: a
	 * release, a hand-over that yields, a withdrawal, a claim that finds the key free and
	 * is not the first. If the store knows for certain that the notification reaches
	 * nobody, the key goes to the next waiter.
	 * <p>
	 * {@link LockBackend#acquireOrRegister} and {@link LockBackend#pass} also give the
	 * claim's owner a key that one of the {@linkplain Claim#replaced() replaced} owners
	 * has. The key then lasts for the {@linkplain Claim#lease() full lease}, like a key
	 * that is taken, or that was granted to the claim's owner before.
	 * <p>
	 * Such a store also <em>recalls</em> keys. If an exclusive owner whose token is
	 * {@linkplain Claim#isRecallable(String) recallable} has the key, the same step that
	 * tells another instance that the key is busy also
	 * {@linkplain ReleaseListener#onRecall tells} the owner's instance, each time.
	 * {@link LockBackend#acquire} need not do that.
	 * <p>
	 * <b>Incubating</b>: may change with the numbers, the lease and the replaced owners
	 * of a {@link Claim}.
	 */
	GRANTS,

	/**
	 * A JVM passes a key to its next request in one step: {@link LockBackend#pass}.
	 */
	HAND_OVER,

	/**
	 * An exclusive owner goes on as one of many that share the key:
	 * {@link LockBackend#downgrade}. Takes {@link #SHARED}.
	 */
	DOWNGRADE;

	/**
	 * Returns the word for a request that takes this feature.
	 * @return the word, as in "was requested as"
	 */
	public String word() {
		return switch (this) {
			case FENCING -> "fenced";
			case FAIR -> "fair";
			case PERMITS -> "one of several permits";
			default -> name();
		};
	}

	/**
	 * Returns the features that a request takes.
	 * @param request the request
	 * @return the features, mostly none
	 */
	public static Set<LockFeature> of(LockRequest request) {
		return of(request.mode(), request.fair(), request.fenced(), request.permits());
	}

	static Set<LockFeature> of(LockMode mode, boolean fair, boolean fenced, int permits) {
		if (mode == LockMode.EXCLUSIVE && !fair && !fenced && permits == 1) {
			return Set.of();
		}
		Set<LockFeature> features = EnumSet.noneOf(LockFeature.class);
		if (mode == LockMode.SHARED) {
			features.add(SHARED);
		}
		if (permits > 1) {
			features.add(PERMITS);
		}
		if (fair) {
			features.add(FAIR);
		}
		if (fenced) {
			features.add(FENCING);
		}
		return features;
	}

}
